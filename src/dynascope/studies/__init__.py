"""Every claim and every multi-seed figure of the paper, each a small declared study."""
