import fs from 'node:fs';
import path from 'node:path';
import { type Block, type Inline, parseGuide } from '../src/features/guide/markdown.ts';

const guides = [
  { name: 'users-guide', title: 'Tokendesk: user’s guide' },
  { name: 'administrators-guide', title: 'Tokendesk: administrator’s guide' },
] as const;

/** The guides as pages for a browser, for whoever has no Tokendesk open: nothing in them is loaded from anywhere. */
export function writeGuidePages(folder: string): void {
  fs.mkdirSync(folder, { recursive: true });
  for (const { name, title } of guides) {
    const text = fs.readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8');
    fs.writeFileSync(path.join(folder, `${name}.html`), guidePage(title, text));
  }
}

function guidePage(title: string, markdown: string): string {
  const chapters = parseGuide(markdown);
  const contents = chapters.map((one) => `<li><a href="#${one.id}">${escaped(one.title)}</a></li>`);
  const body = chapters.map(
    (one) => `<h2 id="${one.id}">${escaped(one.title)}</h2>\n${one.blocks.map(blockHtml).join('\n')}`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
<h1>${escaped(title)}</h1>
<nav aria-label="Contents"><ul>${contents.join('')}</ul></nav>
<main>
${body.join('\n')}
</main>
</html>
`;
}

const style = `
:root { color-scheme: light dark; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.55 system-ui, sans-serif; }
table { border-collapse: collapse; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid #8886; text-align: start; vertical-align: top; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
pre { padding: .75rem; background: #8882; white-space: pre-wrap; }
`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const marks = { strong: 'strong', emphasis: 'em', code: 'code' } as const;

const lineHtml = (inlines: readonly Inline[]): string =>
  inlines
    .map(({ kind, text, to }) => {
      if (kind === 'link') return `<a href="#${escaped(to ?? '')}">${escaped(text)}</a>`;
      return kind === 'text' ? escaped(text) : `<${marks[kind]}>${escaped(text)}</${marks[kind]}>`;
    })
    .join('');

const rowHtml = (cells: readonly (readonly Inline[])[], cell: 'th' | 'td'): string =>
  `<tr>${cells.map((one) => `<${cell}>${lineHtml(one)}</${cell}>`).join('')}</tr>`;

function blockHtml(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h3 id="${block.id}">${escaped(block.text)}</h3>`;
    case 'paragraph':
      return `<p>${lineHtml(block.inlines)}</p>`;
    case 'list':
      return `<ul>${block.items.map((item) => `<li>${lineHtml(item)}</li>`).join('')}</ul>`;
    case 'code':
      return `<pre>${escaped(block.text)}</pre>`;
    case 'table':
      return `<table>${rowHtml(block.head, 'th')}${block.rows.map((row) => rowHtml(row, 'td')).join('')}</table>`;
  }
}
