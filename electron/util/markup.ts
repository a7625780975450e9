const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\u00a0': '&nbsp;',
};
/** As browsers write text themselves. What a page of HTML can't hold is shown as the sign for that. */
const escape = (text: string): string =>
  text
    .toWellFormed()
    // eslint-disable-next-line no-control-regex -- these are what is replaced
    .replaceAll(/[\0-\x08\x0b-\x1f]/g, '\ufffd')
    .replaceAll(/[&<>\u00a0]/g, (character) => entities[character] ?? '');

/** Markup that was escaped already; everything else that goes into `markup` is. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Insert = string | number | Markup | readonly Markup[];

/** For text between tags: nothing that is inserted may stand in an attribute. */
export function markup(parts: TemplateStringsArray, ...inserts: readonly Insert[]): Markup {
  const written = inserts.map((insert) => {
    if (typeof insert === 'string' || typeof insert === 'number') return escape(String(insert));
    return (insert instanceof Markup ? [insert] : insert).map(({ text }) => text).join('');
  });
  return new Markup(String.raw({ raw: parts }, ...written));
}
