//! The little of Markdown that the document uses, as HTML: headings, lists, paragraphs and code.

/// Appends to a string, which can't fail.
macro_rules! put {
    ($html:expr, $($part:tt)+) => {{
        let _ = std::fmt::Write::write_fmt(&mut $html, format_args!($($part)+));
    }};
}
pub(super) use crate::domain::text::escape_html as escape;
pub(super) use put;

/// A line: text between two backquotes is code.
pub(super) fn line(text: &str) -> String {
    let parts = escape(text);
    let mut html = String::with_capacity(parts.len());
    for (n, part) in parts.split('`').enumerate() {
        if n % 2 == 0 {
            html.push_str(part);
        } else {
            html.push_str("<code>");
            html.push_str(part);
            html.push_str("</code>");
        }
    }
    html
}

/// Blocks: `## ` begins a heading, `- ` an item of a list, anything else is a paragraph.
pub(super) fn blocks(text: &str) -> String {
    let mut html = String::new();
    let mut in_list = false;
    for row in text.lines().filter(|row| !row.trim().is_empty()) {
        let item = row.strip_prefix("- ");
        if item.is_some() != in_list {
            html.push_str(if in_list { "</ul>\n" } else { "<ul>\n" });
            in_list = !in_list;
        }
        match (item, row.strip_prefix("## ")) {
            (Some(item), _) => put!(html, "<li>{}</li>\n", line(item)),
            (None, Some(heading)) => put!(html, "<h2>{}</h2>\n", line(heading)),
            (None, None) => put!(html, "<p>{}</p>\n", line(row)),
        }
    }
    if in_list {
        html.push_str("</ul>\n");
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_become_html_and_nothing_else_does() {
        let text = "## A `b`\n\nOne <b>&\"'.\n\n- x\n- `y<`\n\nEnd";
        let html = "<h2>A <code>b</code></h2>\n<p>One &lt;b&gt;&amp;&quot;&#39;.</p>\n<ul>\n<li>x</li>\n\
                    <li><code>y&lt;</code></li>\n</ul>\n<p>End</p>\n";
        assert_eq!(blocks(text), html);
    }
}
