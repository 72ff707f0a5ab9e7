"""The way out for stories of a project that allows hosts: a proxy in the parent, one for each loan.

Decided here:

- **The parent asks, not the child.** A story that took its child over decides all that the child
  decides. Which hosts may be asked, that none is at a private address, and how much comes back is
  therefore judged where it cannot be changed. A machine that lets the browsers' uids reach nothing
  but loopback by a rule of its kernel leaves them this one door.
- **Without allowed hosts there is no outlet.** The browser's proxy is then the dead one of its
  command line; only a bundle that has an outlet is opened in contexts that name it.
- **An answer is kept for its build**, in this consumer's memory: all its stories here get the same
  one, whichever asked first. So what is sent on is little: no cookies, no referrer, no ranges, and
  what is sent is part of the key. Failures are not kept. What more than a few builds hold, or one
  build beyond its share, is asked anew.
- **Inside CONNECT nothing can be kept.** The browser speaks through it with the host itself, and we
  would have to forge certificates to listen. Two stories may be answered differently there, and
  consumers do not share what they keep: a project that needs to be sure bundles its files.
- Whoever finds the port gains nothing by it: it answers what the build's own pages are answered.
"""
