"""Charts over time: `figures` are plotly's, `texts` say the same in words and tables, `script` serves plotly.js."""
