"""What learners have learnt: classifiers of tokens, as kits hold them."""
