"""Shows pages to users: templates, languages, cookies and forms."""
