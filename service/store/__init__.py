"""What is kept, under which key and for how long, in Redis or its embedded stand-in."""
