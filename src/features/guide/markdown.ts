/** A piece of a line. Of a link only the target within the guide is kept: the window opens no other. */
export interface Inline {
  readonly kind: 'text' | 'strong' | 'emphasis' | 'code' | 'link';
  readonly text: string;
  readonly to?: string;
}

export type Block =
  | { readonly kind: 'heading'; readonly id: string; readonly text: string }
  | { readonly kind: 'paragraph'; readonly inlines: readonly Inline[] }
  | { readonly kind: 'list'; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: 'code'; readonly text: string }
  | {
      readonly kind: 'table';
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    };

export interface Chapter {
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

/** As GitHub makes it of a heading, so that a link works there and here. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

const pieces = /\*\*(.+?)\*\*|(?<![\p{L}\p{N}])_(.+?)_(?![\p{L}\p{N}])|`([^`]+)`|\[([^\]]+)\]\(([^)]+)\)/gu;

export function parseInlines(line: string): Inline[] {
  const inlines: Inline[] = [];
  let at = 0;
  const add = (kind: Inline['kind'], text: string, more: Pick<Inline, 'to'> = {}): void => {
    if (text !== '') inlines.push({ kind, text, ...more });
  };
  for (const match of line.matchAll(pieces)) {
    add('text', line.slice(at, match.index));
    const [all, strong = '', emphasis = '', code = '', label = '', to = ''] = match;
    add('strong', strong);
    add('emphasis', emphasis);
    add('code', code);
    if (to.startsWith('#')) add('link', label, { to: to.slice(1) });
    else add('text', label);
    at = match.index + all.length;
  }
  add('text', line.slice(at));
  return inlines;
}

const cellsOf = (line: string): Inline[][] =>
  line
    .slice(1, line.lastIndexOf('|'))
    .split(/(?<!\\)\|/)
    .map((cell) => parseInlines(cell.trim().replaceAll('\\|', '|')));

/** Stands for an empty line within a block of code, which does not end it. */
const blankLine = '\u0000';

/** One block: lines without an empty one between them. */
function parseBlock(lines: readonly string[]): Block | null {
  const [first = ''] = lines;
  if (first.startsWith('### ')) {
    const text = first.slice(4);
    return { kind: 'heading', id: anchorOf(text), text };
  }
  if (first.startsWith('```'))
    return { kind: 'code', text: lines.slice(1, -1).join('\n').replaceAll(blankLine, '') };
  // Pictures of the window are not needed beside it.
  if (first.startsWith('![')) return null;
  if (first.startsWith('|')) {
    const [head = '', , ...rows] = lines;
    return { kind: 'table', head: cellsOf(head), rows: rows.map(cellsOf) };
  }
  if (first.startsWith('- ')) {
    const items = lines.join('\n').slice(2).split('\n- ');
    return { kind: 'list', items: items.map((item) => parseInlines(item.replaceAll(/\n\s*/g, ' '))) };
  }
  return { kind: 'paragraph', inlines: parseInlines(lines.join(' ')) };
}

/**
 * The chapters (`##`) of a guide in the Markdown that docs/ uses: headings, paragraphs, lists of one level, tables, pictures
 * and links. It becomes data and not HTML, since the window's policy allows no text to become markup. `prefix` keeps the
 * parts of one guide apart from those of another.
 */
export function parseGuide(markdown: string, prefix = ''): Chapter[] {
  const [, ...chapters] = markdown.replaceAll('\r\n', '\n').split(/^## /m);
  return chapters.map((chapter) => {
    const whole = chapter.replaceAll(/^```.*\n[^]*?^```$/gm, (code) =>
      code.replaceAll(/\n(?=\n)/g, `\n${blankLine}`),
    );
    const [title = '', ...blocks] = whole.trim().split(/\n\n+/);
    const parsed = blocks.map((block) => parseBlock(block.split('\n')));
    return {
      id: prefix + anchorOf(title),
      title,
      blocks: parsed.filter((block) => block !== null).map((block) => withPrefix(block, prefix)),
    };
  });
}

function withPrefix(block: Block, prefix: string): Block {
  if (prefix === '') return block;
  const lead = (inlines: readonly Inline[]): Inline[] =>
    inlines.map((inline) => (inline.to === undefined ? inline : { ...inline, to: prefix + inline.to }));
  switch (block.kind) {
    case 'heading':
      return { ...block, id: prefix + block.id };
    case 'code':
      return block;
    case 'paragraph':
      return { ...block, inlines: lead(block.inlines) };
    case 'list':
      return { ...block, items: block.items.map(lead) };
    case 'table':
      return { ...block, head: block.head.map(lead), rows: block.rows.map((row) => row.map(lead)) };
  }
}

const lineText = (inlines: readonly Inline[]): string => inlines.map(({ text }) => text).join('');

/** Everything that stands in a block, to be searched. */
export function textOf(block: Block): string {
  switch (block.kind) {
    case 'heading':
    case 'code':
      return block.text;
    case 'paragraph':
      return lineText(block.inlines);
    case 'list':
      return block.items.map(lineText).join(' ');
    case 'table':
      return [block.head, ...block.rows].flat().map(lineText).join(' ');
  }
}
