import { commandNames, commands, pageKeys, type CommandName } from '../../electron/contract/commands.ts';
import { pages, type PageId } from '../../electron/contract/pages.ts';
import type { AppStore } from '../lib/app-store.svelte.ts';
import type { LookupField } from '../features/lookup/lookup-field.svelte.ts';
import { formatCount } from '../lib/format.ts';
import type { Controllers } from './pages.ts';

/** One entry of the palette. */
export interface Command {
  readonly id: string;
  readonly group: 'Found' | 'Cases' | 'Pages' | 'Policies' | 'Actions' | 'Guide';
  readonly label: string;
  /** Shown quietly after the label, and searched too. */
  readonly note?: string;
  /** Searched and not shown. */
  readonly synonyms?: string;
  readonly keys?: string;
  /** Sends what may be no token: Enter alone does not run it, it is marked by a person. */
  readonly isUncertain?: boolean;
  readonly run: () => unknown;
}

export interface PaletteOptions {
  readonly app: AppStore;
  readonly controllers: Pick<Controllers, 'lookup'>;
  readonly go: (page: PageId) => void;
  readonly run: Readonly<Record<PaletteCommand, () => void>>;
  /** Parts of the guide, with all their text in small letters, and what opens one. */
  readonly guide: {
    readonly parts: readonly { readonly id: string; readonly title: string; readonly text: string }[];
    readonly open: (part: string) => void;
  };
  /** Where the text is typed; what it looks like comes first. */
  readonly field: LookupField;
}

/** What the text stands for, then the commands that have all its words. Nothing is sent before one is run. */
export function listCommands(options: PaletteOptions): Command[] {
  const { field } = options;
  const found = foundCommands(options);
  if (field.pasted !== null || field.hasCard) return found;
  const words = wordsOf(field);
  const commands = allCommands(options).filter(({ label, note, synonyms, group }) => {
    const searched = `${label} ${note ?? ''} ${synonyms ?? ''} ${group}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
  // Words that are a command are hardly a token, although a token may be any text.
  const guide = guideCommands(options);
  return field.caseReference !== null || hasShape(field)
    ? [...found, ...commands, ...guide]
    : [...commands, ...guide, ...found];
}

/** Of a text that may be anything nothing is detected. */
const hasShape = ({ isDetected, definition }: LookupField): boolean =>
  isDetected && definition.kind !== 'text';

function foundCommands({ controllers: { lookup }, app, field, go }: PaletteOptions): Command[] {
  /** Runs on Lookup, with the field's text in its own field. */
  const onLookup = (run: () => Promise<unknown>) => async (): Promise<void> => {
    go('lookup');
    lookup.setMode('token');
    await run();
  };
  const { pasted, hasCard, text, caseReference, definition, flaw } = field;
  const found = { group: 'Found' } as const;
  if (app.connection === null) return [];
  if (pasted !== null) {
    const run = async (): Promise<void> => {
      lookup.field.pasted = pasted;
      await lookup.batchPasted();
      // It could not be opened: Lookup says why.
      if (lookup.failure !== null) go('lookup');
    };
    return [{ ...found, id: 'batch', label: `Create a batch of ${formatCount(pasted.lines)} lines`, run }];
  }
  if (hasCard) {
    const { name, label } = definition;
    const value = () => field.takeValue();
    const run = onLookup(() => lookup.tokenize(value(), name));
    return [{ ...found, id: 'tokenize', label: 'Tokenize this card number', note: label, run }];
  }
  if (text.trim() === '') return [];
  const token = text;
  const isCertain = hasShape(field);
  const shown = text.length > 24 ? `${text.slice(0, 24)}…` : text;
  const lookUp: Command = {
    ...found,
    id: 'token',
    label: isCertain ? 'Look up this token' : `Look up “${shown}” as ${definition.label}`,
    ...(flaw === null ? isCertain && { note: `${definition.label}, detected` } : { note: flaw.sentence }),
    isUncertain: !isCertain,
    run: onLookup(async () => {
      lookup.field.set(token);
      lookup.field.choose(definition.name);
      return flaw === null && (await lookup.mask());
    }),
  };
  if (caseReference === null) return [lookUp];
  const openCase = async (): Promise<void> => {
    go('lookup');
    await lookup.openCase(caseReference);
  };
  return [{ ...found, id: 'case', label: `Open case ${caseReference}`, run: openCase }, lookUp];
}

const wordsOf = ({ text }: LookupField): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/** Parts of the guide that have all the words, those with them in their title first. */
function guideCommands({ guide, field }: PaletteOptions): Command[] {
  const words = wordsOf(field);
  // A letter or two is in all of them.
  if (words.join('').length < 3) return [];
  const parts = guide.parts.filter(({ text }) => words.every((word) => text.includes(word)));
  const isTitled = ({ title }: { readonly title: string }): boolean =>
    words.every((word) => title.toLowerCase().includes(word));
  return [...parts.filter(isTitled), ...parts.filter((part) => !isTitled(part))]
    .slice(0, 6)
    .map(({ id, title }) => ({
      id: `guide-${id}`,
      group: 'Guide',
      label: `Guide: ${title}`,
      run: () => {
        guide.open(id);
      },
    }));
}

type PaletteCommand = {
  [N in CommandName]: (typeof commands)[N] extends { palette: string } ? N : never;
}[CommandName];

const isInPalette = (name: CommandName): name is PaletteCommand => 'palette' in commands[name];

function entryOf(name: PaletteCommand, run: () => void): Command {
  const { palette, synonyms, keys } = commands[name];
  return { id: name, group: 'Actions', label: palette, synonyms, keys: keys[0], run };
}

function allCommands({ app, controllers: { lookup }, go, run }: PaletteOptions): Command[] {
  const { cases } = lookup;
  const recent = cases.recent.flatMap(({ caseReference }) =>
    caseReference === null || caseReference === cases.current ? [] : [caseReference],
  );
  return [
    ...recent.slice(0, 5).map((reference): Command => ({
      id: `case-${reference}`,
      group: 'Cases',
      label: `Open case ${reference}`,
      run: async () => {
        go('lookup');
        await lookup.openCase(reference);
      },
    })),
    ...(cases.current === ''
      ? []
      : [
          {
            id: 'close-case',
            group: 'Cases',
            label: `Close case ${cases.current}`,
            run: async () => {
              go('lookup');
              await lookup.closeCase();
            },
          } as const,
        ]),
    ...pages.map(({ id, label, synonyms }, index): Command => ({
      id: `page-${id}`,
      group: 'Pages',
      label: `Go to ${label}`,
      keys: pageKeys(index),
      synonyms,
      run: () => {
        go(id);
      },
    })),
    ...(app.connection?.policies ?? [])
      .filter((policy) => policy !== app.policy)
      .map((policy): Command => ({
        id: `policy-${policy}`,
        group: 'Policies',
        label: `Use policy ${policy}`,
        run: async () => {
          if (app.connection !== null) await app.choose(app.connection.id, policy);
        },
      })),
    {
      id: 'tokenize-value',
      group: 'Actions',
      label: 'Tokenize a value',
      run: () => {
        go('lookup');
        lookup.setMode('cleartext');
      },
    },
    ...commandNames.flatMap((name) => (isInPalette(name) ? [entryOf(name, run[name])] : [])),
  ];
}
