"""Projects: one Storybook under review each."""
