package resume

import "errors"

// Errors of the controller. Refusals are outcomes, not errors.
var (
	// ErrNoTask says that there is no such task for this principal: an unknown task and a forbidden one look alike.
	ErrNoTask = errors.New("no such task for this principal")
	// ErrExists says that the task was started before; Start never resumes.
	ErrExists = errors.New("task exists")
	// ErrMachine says that the task's machine, or this definition of it, is not one that the controller serves.
	ErrMachine = errors.New("machine is not served here")
	// ErrView says that a view was answered in a session of another task.
	ErrView = errors.New("view is of another task")
)
