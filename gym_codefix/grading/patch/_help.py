"""How to write an action, for instructions to agents."""

from __future__ import annotations

ACTION_FORMATS = """\
Write your edits in ONE of three formats. Paths are relative to the tree; all edits refer to
the files as shown, before any of them is applied; text around the edits is passed over.

1. SEARCH/REPLACE blocks. The path alone on a line, then the block. SEARCH must match whole
lines exactly once. An empty SEARCH creates a file. If the text has a line of exactly seven
`=`, write all three markers with eight characters or more.
src/shapes.py
<<<<<<< SEARCH
    return width + height
=======
    return width * height
>>>>>>> REPLACE

2. A unified diff (`--- /dev/null` creates a file; files cannot be deleted or renamed).
--- a/src/shapes.py
+++ b/src/shapes.py
@@ -12,2 +12,2 @@
 def area(width, height):
-    return width + height
+    return width * height

3. Line edits. `path:LINE| text` replaces a line and `path:LINE-LINE| text` a range; further lines
of the text begin with a bar. `path:LINE+| text` inserts after a line (0+ at the top, which also
creates a file). `path:LINE-|` and `path:LINE-LINE-|` delete. One space after the bar is dropped,
the rest is the text; an empty line is a bar alone.
src/shapes.py:2+| import math
src/shapes.py:13|     area = width * height
|     return area

In every format a file keeps its newline style, and its final newline or the lack of it; the
line `\\ No newline at end of file` after the last line takes the final newline away.
"""
"""Help text on the three formats that ``parse_action`` reads."""
