// A table that is wider than a phone scrolls in its own frame: let the keyboard reach it.
document$.subscribe(() => {
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
  }
});
