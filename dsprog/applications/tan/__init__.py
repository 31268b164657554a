"""Tree-augmented naive Bayes classifiers with certified structure."""
