"""Mining: how tasks are cut out of repositories and proven."""
