// Package resume is the controller: the only thing that commits. It starts tasks, resumes them by their id in another session,
// another process, another week, asks observers for fresh evidence, judges proposals by the pure step of package
// machine, commits what passes in one synced write, performs effects and fires timers.
//
// A [Controller] is opened on a store with everything that it will ever call ([Open]). A [Session] is one principal at one
// task. Refusals are outcomes, not errors: a Go error means that something is broken.
package resume
