"""The images, and `make images`, which builds them and tries them out."""
