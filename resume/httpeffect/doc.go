// Package httpeffect tells what a provider's HTTP answer, or the lack of one, means for an effect: not sent, refused, or nobody
// knows. A handler of resume.Perform returns its errors as they are.
//
//	c := httpeffect.Client{BusyIsNotSent: true} // the provider's manual says that a 429 or 503 with Retry-After did nothing
//	answer, err := c.Do(req)                    // once: no redirect, no second attempt
//
// Whatever is not known for certain is uncertain, and then the effect is looked up and never sent again blindly (DESIGN, Effects):
//
//	no connection: name, dial, TLS, proxy         not sent
//	any error once there was a connection         uncertain: a byte may have left
//	an answer that is cut, too long, or a 3xx     uncertain
//	2xx                                           an Answer; but 202 and 206 are uncertain
//	409                                           uncertain, and ErrDuplicate: look it up
//	429, 503 with Retry-After                     not sent where the provider promises it, else uncertain
//	408, 423, 424, 425, 429, 499                  uncertain: they leave open what happened
//	any other 4xx                                 refused; after an attempt that may have arrived the controller does not believe it
//	5xx, and all else                             uncertain
package httpeffect
