import { codecOf } from '../../electron/batch/reading/encodings.ts';
import { detectFormat } from '../../electron/batch/reading/detect.ts';
import { rowNotices } from '../../electron/batch/reading/preview.ts';
import { beginning, readRows } from '../../electron/batch/reading/read-rows.ts';
import type { Delimiter, Encoding, Reading, TablePlace } from '../../electron/contract/models/batch.ts';
import { placeOf } from '../../electron/contract/table-place.ts';
import type { Case } from './corpora.ts';
import { fromMemory } from './run-cases.ts';

/** A file of a kind that customers have, and how a person would read it. */
interface CustomerFile extends Case {
  readonly expected: TablePlace & {
    readonly encoding: Encoding;
    readonly delimiter: Delimiter;
    /** Whether quotes are text: then something must be said of them. */
    readonly quote?: Reading['quote'];
  };
}

interface Language {
  readonly name: string;
  readonly encodings: readonly Encoding[];
  readonly header: readonly string[];
  /** Of columns that are numbered: "Phone 1", "Phone 2". */
  readonly numbered: string;
  readonly people: readonly string[];
  readonly cities: readonly string[];
  readonly title: string;
  readonly total: string;
  /** Of amounts and dates. */
  readonly comma: boolean;
}

const languages: readonly Language[] = [
  {
    name: 'German',
    encodings: ['utf-8', 'windows-1252', 'iso-8859-15', 'ibm850'],
    header: ['Buchungstag', 'Name', 'Kartennummer', 'Ort', 'Verwendungszweck', 'Betrag'],
    numbered: 'Telefon',
    people: ['Jürgen Müller', 'Änne Großmann', 'Björn Weiß', 'Käthe Schröder'],
    cities: ['Köln', 'München', 'Düsseldorf', 'Görlitz'],
    title: 'Umsätze für Oktober',
    total: 'Summe',
    comma: true,
  },
  {
    name: 'French',
    encodings: ['utf-8', 'windows-1252', 'iso-8859-15', 'macintosh'],
    header: ['Date', 'Nom', 'Numéro de carte', 'Ville', 'Libellé', 'Montant'],
    numbered: 'Téléphone',
    people: ['Zoé Lefèvre', 'François Bézier', 'Hélène Garçon', 'Rémi Noël'],
    cities: ['Besançon', 'Nîmes', 'Orléans', 'Sète'],
    title: 'Relevé des opérations',
    total: 'Total',
    comma: true,
  },
  {
    name: 'Spanish',
    encodings: ['utf-8', 'windows-1252', 'iso-8859-1'],
    header: ['Fecha', 'Titular', 'Tarjeta', 'Población', 'Concepto', 'Importe'],
    numbered: 'Dirección',
    people: ['José Muñoz', 'Íñigo Peña', 'Begoña Núñez', 'Ramón García'],
    cities: ['Málaga', 'León', 'Cádiz', 'Mérida'],
    title: 'Movimientos de la cuenta',
    total: 'Total',
    comma: true,
  },
  {
    name: 'Italian',
    encodings: ['utf-8', 'windows-1252'],
    header: ['Data', 'Intestatario', 'Carta', 'Città', 'Causale', 'Importo'],
    numbered: 'Indirizzo',
    people: ['Niccolò Però', 'Nicolò Cantù', 'Andrea Forlì', 'Zoè Libertà'],
    cities: ['Cantù', 'Forlì', 'Patù', 'Mondovì'],
    title: 'Elenco dei movimenti della città',
    total: 'Totale',
    comma: true,
  },
  {
    name: 'Polish',
    encodings: ['utf-8', 'windows-1250', 'iso-8859-2', 'ibm852'],
    header: ['Data operacji', 'Właściciel', 'Numer karty', 'Miejscowość', 'Tytuł', 'Kwota'],
    numbered: 'Opis',
    people: ['Łukasz Żółtowski', 'Małgorzata Wiśniewska', 'Józef Śliwa', 'Agnieszka Gęś'],
    cities: ['Łódź', 'Gdańsk', 'Kraków', 'Białystok'],
    title: 'Zestawienie operacji',
    total: 'Razem',
    comma: true,
  },
  {
    name: 'Czech',
    encodings: ['utf-8', 'windows-1250', 'iso-8859-2'],
    header: ['Datum', 'Majitel', 'Číslo karty', 'Město', 'Popis', 'Částka'],
    numbered: 'Popis',
    people: ['Jiří Dvořák', 'Šárka Ťuhýková', 'Zdeněk Kovář', 'Růžena Němcová'],
    cities: ['Plzeň', 'Žďár', 'Břeclav', 'Děčín'],
    title: 'Výpis z účtu',
    total: 'Celkem',
    comma: true,
  },
  {
    name: 'Russian',
    encodings: ['utf-8', 'windows-1251', 'koi8-r', 'ibm866'],
    header: ['Дата', 'Владелец', 'Номер карты', 'Город', 'Назначение', 'Сумма'],
    numbered: 'Телефон',
    people: ['Иванов Пётр', 'Сидорова Анна', 'Кузнецов Олег', 'Орлова Юлия'],
    cities: ['Москва', 'Казань', 'Тверь', 'Омск'],
    title: 'Выписка по счёту',
    total: 'Итого',
    comma: true,
  },
  {
    name: 'Greek',
    encodings: ['utf-8', 'windows-1253', 'iso-8859-7'],
    header: ['Ημερομηνία', 'Κάτοχος', 'Αριθμός κάρτας', 'Πόλη', 'Αιτιολογία', 'Ποσό'],
    numbered: 'Τηλέφωνο',
    people: ['Γεωργίου Άννα', 'Παπαδόπουλος Νίκος', 'Ιωάννου Ελένη', 'Δήμου Κώστας'],
    cities: ['Αθήνα', 'Πάτρα', 'Θεσσαλονίκη', 'Βόλος'],
    title: 'Κίνηση λογαριασμού',
    total: 'Σύνολο',
    comma: true,
  },
  {
    name: 'Turkish',
    encodings: ['utf-8', 'windows-1254'],
    header: ['Tarih', 'Müşteri', 'Kart numarası', 'Şehir', 'Açıklama', 'Tutar'],
    numbered: 'Adres',
    people: ['Ayşe Yılmaz', 'Gökhan Çağlar', 'Şükrü Işık', 'Özgür Ünal'],
    cities: ['İstanbul', 'Eskişehir', 'Muğla', 'Şırnak'],
    title: 'Hesap özeti dökümü',
    total: 'Toplam',
    comma: true,
  },
  {
    name: 'Japanese',
    encodings: ['utf-8', 'shift_jis', 'euc-jp', 'utf-16le'],
    header: ['日付', '氏名', 'カード番号', '都市', '摘要', '金額'],
    numbered: '電話',
    people: ['山田太郎', '鈴木花子', '佐藤次郎', '高橋能美'],
    cities: ['東京', '大阪', '横浜', '表参道'],
    title: '十月の取引一覧',
    total: '合計',
    comma: false,
  },
];

/** Numbers from a seed (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Kind =
  | 'plain'
  | 'no header'
  | 'lines above'
  | 'many lines above'
  | 'lines above filled up'
  | 'comment lines'
  | 'sep='
  | 'a line of dashes'
  | 'a sum below'
  | 'closing lines'
  | 'above and below'
  | 'the header again'
  | 'numbered names'
  | 'quotes as text'
  | 'ditto marks'
  | 'a delimiter at each end'
  | 'a rare delimiter'
  | 'records of two kinds'
  | 'cells of several lines'
  | 'few rows';

const kinds: readonly Kind[] = [
  'plain',
  'no header',
  'lines above',
  'many lines above',
  'lines above filled up',
  'comment lines',
  'sep=',
  'a line of dashes',
  'a sum below',
  'closing lines',
  'above and below',
  'the header again',
  'numbered names',
  'quotes as text',
  'ditto marks',
  'a delimiter at each end',
  'a rare delimiter',
  'records of two kinds',
  'cells of several lines',
  'few rows',
];

/** Every kind in every language, `each` times, in one encoding and dialect after the other. The same seed, the same files. */
export function customerFiles(each: number, seed: number): CustomerFile[] {
  return kinds.flatMap((kind, k) =>
    languages.flatMap((language, l) =>
      Array.from({ length: each }, (_, n) => customerFile(kind, language, seed + k * 1_000 + l * 100 + n)),
    ),
  );
}

function customerFile(kind: Kind, language: Language, seed: number): CustomerFile {
  const next = numbers(seed);
  const one = <T>(of: readonly T[]): T => of[next(of.length)] as T;
  const encoding = one(language.encodings);
  const delimiter: Delimiter =
    kind === 'a rare delimiter'
      ? one(['^', '~', '\x01', '\x1f'])
      : one(
          kind.startsWith('quotes') || kind === 'ditto marks'
            ? ['|', '\t', ';']
            : [';', '\t', '|', ...(language.comma ? [] : [','])],
        );
  const lineEnd = one(['\r\n', '\n']);
  const hasQuotes = kind !== 'quotes as text' && kind !== 'ditto marks' && next(3) === 0;
  const count = kind === 'few rows' ? 1 + next(3) : kind === 'many lines above' ? 6 + next(6) : 20 + next(60);

  const cell = (text: string): string =>
    hasQuotes || text.includes('\n') || (text.includes(delimiter) && delimiter !== '|')
      ? `"${text.replaceAll('"', '""')}"`
      : text;
  const amount = (): string => {
    const [whole, part] = [1 + next(5_000), String(next(100)).padStart(2, '0')];
    return language.comma ? `${whole},${part}` : `${whole}.${part}`;
  };
  const date = (): string =>
    `${String(1 + next(28)).padStart(2, '0')}.${String(1 + next(12)).padStart(2, '0')}.2026`;
  const purposes = ['REF', 'Nr.', 'AB-', 'X/'];
  const rowOf = (at: number): string[] => [
    date(),
    one(language.people),
    `9${String(next(1e9)).padStart(9, '0')}${String(at).padStart(6, '0')}`,
    one(language.cities),
    `${one(purposes)}${next(100_000)}`,
    amount(),
  ];
  let header: string[] = [...language.header];
  let rows = Array.from({ length: count }, (_, at) => rowOf(at));
  if (kind === 'numbered names') {
    header = [header[1] ?? '', ...[1, 2, 3].map((n) => `${language.numbered} ${n}`), header[5] ?? ''];
    rows = rows.map((row) => [
      row[1] ?? '',
      row[3] ?? '',
      `${row[3] ?? ''} ${next(90)}`,
      row[1] ?? '',
      row[5] ?? '',
    ]);
  }
  if (kind === 'cells of several lines')
    rows = rows.map((row, at) =>
      at % 4 === 0 ? row.map((text, c) => (c === 4 ? `${text}\n${one(language.cities)}` : text)) : row,
    );
  const line = (cells: readonly string[]): string => cells.map(cell).join(delimiter);
  let body = rows.map(line);
  let top: string[] = [line(header)];
  let bottom: string[] = [];
  let place: TablePlace = { header: true };
  const pairs = (n: number): string[] =>
    Array.from({ length: n }, (_, at) => `${one(language.cities)}${at}:${delimiter}${one(language.people)}`);
  const below = [`${language.total}${delimiter.repeat(5)}${amount()}`];
  switch (kind) {
    case 'no header':
      top = [];
      place = { header: false };
      break;
    case 'lines above': {
      const above = [language.title, '', ...pairs(1 + next(4)), ''];
      top = [...above, ...top];
      place = { header: true, headerRow: above.length + 1 };
      break;
    }
    case 'many lines above': {
      const above = pairs(15 + next(16));
      top = [...above, ...top];
      place = { header: true, headerRow: above.length + 1 };
      break;
    }
    case 'lines above filled up': {
      const empty = delimiter.repeat(5);
      top = [`${language.title}${empty}`, `${date()}${empty}`, empty, ...top];
      place = { header: true, headerRow: 4 };
      break;
    }
    case 'comment lines':
      top = [`# ${language.title}`, `# ${date()}`, ...top];
      place = { header: true, headerRow: 3 };
      break;
    case 'sep=':
      top = [`sep=${delimiter}`, ...top];
      place = { header: true, headerRow: 2 };
      break;
    case 'a line of dashes':
      top = [...top, header.map(() => '-----').join(delimiter)];
      place = { header: true, firstRow: 3 };
      break;
    case 'a sum below':
      bottom = below;
      place = { header: true, rowsBelow: 1 };
      break;
    case 'closing lines':
      bottom = ['', `(${count})`, `*** ${language.title} ***`];
      place = { header: true, rowsBelow: 3 };
      break;
    case 'above and below':
      top = [language.title, '', ...top];
      bottom = below;
      place = { header: true, headerRow: 3, rowsBelow: 1 };
      break;
    case 'the header again':
      body = body.flatMap((text, at) => (at > 0 && at % 15 === 0 ? [line(header), text] : [text]));
      break;
    case 'quotes as text':
      body = body.map((text, at) =>
        at === 3
          ? `"${text}`
          : at === 9
            ? text.replace(language.cities[0] ?? '', `${language.cities[0] ?? ''}"`)
            : text,
      );
      body[9] = (body[9] ?? '').replace(delimiter, `"${delimiter}`);
      break;
    case 'ditto marks':
      body = rows.map((row, at) =>
        line(at % 10 === 4 || at % 10 === 5 ? row.map((text, c) => (c === 1 ? '"' : text)) : row),
      );
      break;
    case 'a delimiter at each end':
      body = body.map((text) => text + delimiter);
      break;
    case 'records of two kinds':
      top = [`HDR${delimiter}20261125${delimiter}${count}`];
      body = rows.map((row) => ['DTL', ...row].join(delimiter));
      place = { header: false };
      break;
    default:
  }
  const text = [...top, ...body, ...bottom].map((each) => each + lineEnd).join('');
  const encoded = codecOf(encoding).encode(text);
  if (!encoded.ok) throw new Error(`${encoding} has no ${encoded.character}`);
  const isText = kind === 'quotes as text' || kind === 'ditto marks';
  return {
    name: `${kind}, ${language.name}, ${encoding}, ${JSON.stringify(delimiter)}, seed ${seed}`,
    bytes: encoded.bytes,
    expected: { ...place, encoding, delimiter, ...(isText && { quote: 'none' as const }) },
  };
}

/** How many of the files are read as a person would read them, and of the others how many without a question. */
export async function checkGuesses(
  files: readonly CustomerFile[],
): Promise<{ right: number; asked: number; silent: string[] }> {
  const counts = { right: 0, asked: 0, silent: [] as string[] };
  for (const { name, bytes, expected } of files) {
    const source = fromMemory(bytes);
    const found = await detectFormat(source, {});
    if (!found.ok) {
      counts.asked += 1;
      continue;
    }
    const format = found.value;
    const { encoding, delimiter, quote, ...place } = expected;
    const notices = new Set<string>();
    for await (const chunk of readRows(source, format, beginning(format)))
      if (chunk.ok) for (const { kind } of rowNotices(chunk.value, format, null)) notices.add(kind);
    const isEncoding = format.encoding === encoding;
    const isDelimiter = format.delimiter === delimiter;
    const isPlace = JSON.stringify(placeOf(format)) === JSON.stringify(placeOf(place));
    const { guesses } = format;
    const asksDelimiter = guesses.delimiter !== null;
    const isSaid =
      (isEncoding || guesses.encoding !== null) &&
      (isDelimiter || asksDelimiter) &&
      // Under another delimiter the table is elsewhere.
      (isPlace || guesses.header || (!isDelimiter && asksDelimiter)) &&
      (quote === undefined || notices.has('rows-in-cell') || notices.has('unclosed-quote'));
    if (!isSaid) counts.silent.push(name);
    else if (isEncoding && isDelimiter && isPlace) counts.right += 1;
    else counts.asked += 1;
  }
  return counts;
}
