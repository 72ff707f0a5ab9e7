"""What each page says, in the words and links that its template prints; pure."""
