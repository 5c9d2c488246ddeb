"""A package, so that what its modules share (scope "package") ends with the last of them."""
