// Package holder lets several processes look at one store that only one of them can have open.
//
// The process that has a store open leaves a note in its directory, File: who it is and where it listens. Listen writes
// that note and answers on a socket for as long as the context lives; whoever finds the store locked reads the note
// with Look and reads the store through the socket with Dial. Only reading is offered: a change needs the store itself.
//
// The socket is HTTP and JSON on a unix socket of mode 0600 in a directory of mode 0700, so it gives its reader what the
// files of the store would have given the same user. Everything on it has a limit (see the constants).
package holder
