"""Text: cleaned for storing and showing, made plain for encoding, split, cut, and made safe for a terminal."""
