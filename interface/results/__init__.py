"""What a command returns: the result, and how it is shown as text, in a notebook, as a picture or in a file."""
