"""The process that lives inside the sandbox and runs tests by forking itself.

Only the standard library, coverage.py and pytest are imported here: the folder is mounted into a
sandbox whose interpreter belongs to a locked environment that knows nothing of gym_codefix.

``launch``  builds the namespaces and the file system, then executes ``main`` inside them;
``main``    serves jobs: every job is a fork (of *base*, or of one of the ``tiers``);
``tiers``   pytest stopped before and after it collects, to be forked from there;
``jailer``  makes the namespaces of jobs, watches them, and puts a server's forks into them;
``jail``    these namespaces, and what a job gives up before any byte of an agent's code runs;
``supervisor``, ``limits``  what becomes of a job, and the bounds on it;
``unconfined``  jobs where there are no namespaces;
``suite``   runs chosen tests through pytest's own API and reports outcomes over a pipe;
``reduce``  leaves out of a module what an edit does not touch;
``swap``    replaces code objects in a fork of the template;
``tracing`` which test executes which line;
``bytecode`` cached byte code of a tree: filled outside of any sandbox, hidden inside.
"""
