"""Trees whose nodes are linear separators: growth, routing, tail classifiers."""
