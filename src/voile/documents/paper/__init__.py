"""What is the paper's own: learners that the product offers beside its default."""
