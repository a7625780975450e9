import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import iconv from 'iconv-lite';
import { detectFormat } from '../../../../electron/batch/reading/detect.ts';
import { guessEncoding } from '../../../../electron/batch/reading/guess-encoding.ts';
import { guessHeader } from '../../../../electron/batch/reading/guess-header.ts';
import { guessDelimiter, guessNewline } from '../../../../electron/batch/reading/guess-table.ts';
import type { Preview } from '../../../../electron/contract/models/batch.ts';
import { fromMemory } from '../../../fidelity/run-cases.ts';
import { detokenize, openApp, planOf, valueOf, type TestApp } from '../../../support/batch-app.ts';

const rowsOf = (texts: readonly string[], heading: string): string =>
  [heading, ...texts.map((text, i) => `${text},tok${i},${4_000 + i}`)].map((row) => `${row}\r\n`).join('');

const western = ['José,Malmö', 'Zoë,Zürich', 'René,Köln', 'Müller,Genève', 'Peña,Århus'];

describe('the encoding', () => {
  it.each([
    ['iso-8859-15', 'iso-8859-15', ['Škoda,10 €', 'Žižka,12 €', 'José,5 €']],
    ['iso-8859-2', 'iso-8859-2', ['Łukasz Wiśniewski,Łódź', 'Małgorzata,Gdańsk', 'Jiří Dvořák,Plzeň']],
    ['windows-1251', 'windows-1251', ['Иванов,Москва', 'Петрова,Казань', 'Сидоров,Тверь']],
    // The letters of Western Europe are the same in both.
    ['cp437', 'ibm850', western],
    ['macroman', 'macintosh', western],
    ['shift_jis', 'shift_jis', ['山田太郎,東京', '鈴木花子,大阪', '佐藤次郎,横浜']],
    ['euc-jp', 'euc-jp', ['山田太郎,東京', '鈴木花子,大阪', '佐藤次郎,横浜']],
    ['gb18030', 'gb18030', ['王小明,北京', '李娜,上海', '张伟,广州']],
    ['big5', 'big5', ['王小明,臺北', '李娜,高雄', '張偉,臺中']],
    ['windows-1252', 'windows-1252', western],
    ['windows-1250', 'windows-1250', ['Łukasz Wiśniewski,Łódź', 'Šárka Ťuhýková,Žďár', 'Jiří,Plzeň']],
    ['windows-1253', 'windows-1253', ['Παπαδόπουλος,Αθήνα', 'Γεωργίου,Θεσσαλονίκη']],
    ['windows-1254', 'windows-1254', ['Ayşe Yılmaz,İstanbul', 'Gökhan Çağlar,Eskişehir']],
    ['windows-1255', 'windows-1255', ['משה כהן,ירושלים', 'דוד לוי,חיפה', 'שרה,תל אביב']],
    ['windows-1256', 'windows-1256', ['محمد علي,القاهرة', 'فاطمة,دمشق']],
    ['koi8-r', 'koi8-r', ['Иванов,Москва', 'Петрова,Казань', 'Сидоров,Тверь']],
    ['cp866', 'ibm866', ['Иванов,Москва', 'Петрова,Казань', 'Сидоров,Тверь']],
    ['euc-kr', 'euc-kr', ['김철수,서울', '이영희,부산 해운대', '박지성,대한민국 경기도', '최고은,인천']],
    ['windows-874', 'windows-874', ['สมชาย,กรุงเทพ', 'สมหญิง,เชียงใหม่']],
  ] as const)('%s is guessed as %s, and said to be a guess', async (written, guessed, texts) => {
    const guess = await guessEncoding(iconv.encode(rowsOf(texts, 'name,city,token,n'), written));
    expect(guess.encoding).toBe(guessed);
    expect(guess.alternatives?.length).toBeGreaterThan(0);
    expect(guess.alternatives).not.toContain(guessed);
  });

  it('is no guess for UTF-8 and ASCII, cut in a character or not', async () => {
    const bytes = Buffer.from(rowsOf([...western, '山田,東京'], 'name,city,token,n'));
    for (let length = bytes.length - 30; length <= bytes.length; length++) {
      expect(await guessEncoding(bytes.subarray(0, length))).toEqual({
        encoding: 'utf-8',
        alternatives: null,
      });
    }
    expect(await guessEncoding(Buffer.from('a,b\n'))).toEqual({ encoding: 'utf-8', alternatives: null });
  });

  it('is UTF-16 where delimiters and line ends have the only NULs', async () => {
    const bytes = Buffer.from(rowsOf(['山田太郎は東京に,東京', '鈴木花子,大阪'], '名前,都市'), 'utf16le');
    expect(await guessEncoding(bytes)).toEqual({ encoding: 'utf-16le', alternatives: null });
    expect(await guessEncoding(Buffer.from(bytes).swap16())).toEqual({
      encoding: 'utf-16be',
      alternatives: null,
    });
  });

  const cutEmoji = Buffer.from([0xf0, 0x9f, 0x92]);
  const utf8Rows = (count: number): Buffer[] =>
    Array.from({ length: count }, (_, i) => Buffer.from(`${['José', 'Zoë', 'René'][i % 3] ?? ''},tok${i}\n`));

  it('is UTF-8 with one broken character among many, and that is sure', async () => {
    const bytes = Buffer.concat([...utf8Rows(503), cutEmoji, Buffer.from(',tok\n')]);
    expect(await guessEncoding(bytes)).toEqual({ encoding: 'utf-8', alternatives: null });
  });

  it('is UTF-8 with eight accents and a broken character, and with one accent and one', async () => {
    for (const count of [8, 1]) {
      const bytes = Buffer.concat([...utf8Rows(count), cutEmoji, Buffer.from(',tok\n')]);
      expect((await guessEncoding(bytes)).encoding).toBe('utf-8');
    }
  });

  it('is UTF-8 where some lines are in another encoding, and then said to be a guess', async () => {
    const bytes = Buffer.concat([...utf8Rows(10), Buffer.from(rowsOf(western, 'x'), 'latin1')]);
    const guess = await guessEncoding(bytes);
    expect(guess.encoding).toBe('utf-8');
    expect(guess.alternatives).toContain('windows-1252');
  });

  it('is not UTF-8 for a few Chinese characters that make valid UTF-8 by chance', async () => {
    const texts = Array.from(
      { length: 30 },
      (_, i) => `${['王小明', '李娜', '张伟'][i % 3] ?? ''},${i % 2 ? '男' : '女'}`,
    );
    expect((await guessEncoding(iconv.encode(rowsOf(texts, '姓名,性别'), 'gb18030'))).encoding).toBe(
      'gb18030',
    );
  });
});

describe('the line end', () => {
  it.each([
    ['a,b\rc,d\r', '\r'],
    // Excel for Mac
    ['a,b\r"two\nlines",d\re,f\r', '\r'],
    [Array.from({ length: 20 }, (_, i) => `x${i},${i === 7 ? '"two\nlines"' : 'y'}\r`).join(''), '\r'],
    ['a,b\r\nc,d\r\n', '\r\n'],
    ['a,"x\ny"\r\nc,d\r\n', '\r\n'],
    ['a,b\nc,d\n', '\n'],
    ['a,"x\ry"\nc,d\n', '\n'],
    ['a,x\ry\nc,d\n', '\n'],
    ['5" pipe,b\nc,d\n', '\n'],
    ['a,b', '\n'],
    ['a,b\r', '\r'],
  ])('of %j is %j', (view, newline) => {
    expect(guessNewline(view, 'utf-8')).toBe(newline);
  });
});

describe('the delimiter', () => {
  const addresses = [
    '1, Main St, Apt 2, Springfield, IL',
    '22, High Rd, Flat 3, London, UK',
    '7, Rue A, B, Paris, FR',
  ];
  const table = (delimiter: string, cells: readonly string[], heading: string[] | null): string =>
    [...(heading === null ? [] : [heading]), ...cells.map((cell, i) => [`n${i}`, `tok${i}`, cell])]
      .map((row) => `${row.join(delimiter)}\n`)
      .join('');

  it.each([';', '\t', '|'] as const)('is %j though every row has more commas', async (delimiter) => {
    const guess = await guessDelimiter(table(delimiter, addresses, ['name', 'token', 'address']), '\n');
    expect(guess.delimiter).toBe(delimiter);
  });

  it.each([';', '\t', '|'] as const)('is %j without a header, and commas in every row', async (delimiter) => {
    expect((await guessDelimiter(table(delimiter, addresses, null), '\n')).delimiter).toBe(delimiter);
  });

  it('is sure where the header has one of them only, however many rows agree about the other', async () => {
    const lists = Array.from({ length: 150 }, () => 'a,b,c,d');
    const guess = await guessDelimiter(table(';', lists, ['name', 'token', 'tags']), '\n');
    expect(guess).toEqual({ delimiter: ';', alternatives: null });
  });

  it('is the bar, or a tab, though every row has a list with semicolons', async () => {
    const lists = ['a;b;c', 'd;e;f', 'g;h;i'];
    for (const delimiter of ['|', '\t'] as const)
      expect((await guessDelimiter(table(delimiter, lists, ['name', 'token', 'tags']), '\n')).delimiter).toBe(
        delimiter,
      );
  });

  it('is the semicolon though every amount has a comma', async () => {
    expect((await guessDelimiter('n0;1,50;2,25\nn1;3,10;4,00\n', '\n')).delimiter).toBe(';');
  });

  it('is sure where the others do not occur or are quoted', async () => {
    expect(await guessDelimiter('a,b\n1,2\n', '\n')).toEqual({ delimiter: ',', alternatives: null });
    expect(await guessDelimiter('a,b\n"x;y",2\n"p;q",3\n', '\n')).toEqual({
      delimiter: ',',
      alternatives: null,
    });
    // None at all is a question of its own.
    expect(await guessDelimiter('a\n1\n', '\n')).toEqual({ delimiter: ',', alternatives: [] });
  });

  it('is said to be a guess where another makes as good a table', async () => {
    const guess = await guessDelimiter('x,1;2,y\nz,3;4,w\n', '\n');
    expect(guess.alternatives).not.toBeNull();
    expect([guess.delimiter, ...(guess.alternatives ?? [])].sort()).toEqual([',', ';']);
  });

  it.each([64, 100, 250])('is found behind a first row of %i KB, and its columns', async (kilobytes) => {
    const long = 'a text, with commas, '.repeat((kilobytes * 1024) / 21);
    const rows = Array.from({ length: 40 }, (_, i) => `tok${i};1,5${i};note ${i}\n`).join('');
    for (const first of [`token;${long};note`, `token;amount;${long}`, `"${long}";token;note`]) {
      const found = valueOf(await detectFormat(fromMemory(Buffer.from(`${first}\n${rows}`)), {}));
      expect(found).toMatchObject({ delimiter: ';', header: true, width: 3 });
      expect(found.guesses.delimiter).toBeNull();
    }
  });

  it('is found behind a row with broken quotes, and in CR-only files', async () => {
    expect((await guessDelimiter('na"me;"tok"en\na;b\nc;d\n', '\n')).delimiter).toBe(';');
    expect((await guessDelimiter('"open;b\na;b\nc;d\n', '\n')).delimiter).toBe(';');
    expect((await guessDelimiter('a;b\rc;d\r', '\r')).delimiter).toBe(';');
  });
});

describe('the header', () => {
  const under = (heading: string[], ...rows: string[][]): string[][] => [heading, ...rows];
  const data = [
    ['D-1', 'tok1', '12.50'],
    ['D-2', 'tok27', '7'],
    ['D-3', 'tok3', '103.00'],
  ];

  it.each([
    [['case', 'token', 'sales 2024']],
    [['case', 'token', '1']],
    [['case', 'token', 'e@mail']],
    [['case', 'token', '2024-01']],
    [['case', 'token_v1234', 'amount']],
    [['Fall', 'Kürzel', 'Betrag']],
  ])('is there: %j', async (heading) => {
    expect((await guessHeader(under(heading, ...data))).header).toBe(true);
  });

  it('is sure of names above values', async () => {
    expect(await guessHeader(under(['case', 'token', 'sales 2024'], ...data))).toMatchObject({
      header: true,
      isDoubtful: false,
    });
    expect(
      await guessHeader([
        ['Name', 'City'],
        ['Smith', 'London'],
        ['Jones', 'Leeds'],
      ]),
    ).toMatchObject({
      header: true,
      isDoubtful: false,
    });
  });

  it('is not there where the first row is made like the others', async () => {
    const words = [
      ['ab-cd-ef', 'Smith'],
      ['gh-ij-kl', 'Jones'],
      ['mn-op-qr', 'Brown'],
    ];
    expect(await guessHeader(words)).toMatchObject({ header: false, isDoubtful: false });
    expect(await guessHeader(data)).toMatchObject({ header: false, isDoubtful: false });
    expect((await guessHeader([['tok1'], ['tok2'], ['tok3']])).header).toBe(false);
    expect((await guessHeader([['kQ3xR9ab'], ['x7YtPq2M'], ['Zz81mNb4']])).header).toBe(false);
  });

  it('is never a row with a card, an SSN or a mail address', async () => {
    for (const value of ['4111 1111 1111 1111', '123-45-6789', 'ada@example.org']) {
      expect(
        await guessHeader([
          ['name', value],
          ['token', 'x'],
        ]),
      ).toMatchObject({ header: false, isDoubtful: false });
    }
  });

  it('names the columns that say otherwise', async () => {
    const rows = (first: string[]): string[][] => [
      first,
      ...Array.from({ length: 20 }, (_, i) => [
        `tok${i}`,
        `D-${i}`,
        `${i}.50`,
        `4111 1111 1111 ${1_000 + i}`,
      ]),
    ];
    expect(await guessHeader(rows(['tok77', 'D-77', '7.00', 'Karte']))).toEqual({
      header: false,
      isDoubtful: false,
      against: [3],
    });
    // A value in one column decides, whatever the others say.
    expect(await guessHeader(rows(['token', 'case', 'amount', '4111 1111 1111 1111']))).toEqual({
      header: false,
      isDoubtful: false,
      against: [0, 1, 2],
    });
    expect(await guessHeader(rows(['tok77', 'case', 'amount', 'card']))).toEqual({
      header: true,
      isDoubtful: false,
      against: [0],
    });
    expect((await guessHeader(rows(['token', 'case', 'amount', 'card']))).against).toEqual([]);
  });

  it('is said to be a guess where there is nothing to compare, or only words', async () => {
    expect(await guessHeader([['alpha', 'beta']])).toMatchObject({ header: true, isDoubtful: true });
    expect(
      (
        await guessHeader([
          ['Smith', 'London'],
          ['Jones', 'Leeds'],
          ['Brown', 'York'],
        ])
      ).isDoubtful,
    ).toBe(true);
    expect(
      (
        await guessHeader([
          ['case', '1', '2'],
          ['D-1', '5', '6'],
        ])
      ).isDoubtful,
    ).toBe(true);
  });
});

describe('a preview', () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await openApp();
  });
  afterEach(() => app.close());

  const open = async (bytes: Buffer | string): Promise<string> => app.open(await app.write('in.csv', bytes));
  const preview = async (sourceId: string, reading: object = {}): Promise<Preview> =>
    valueOf(await app.batch['batch.preview']({ sourceId, reading, masked: null }));

  it('says what was guessed, and no more what a person chose', async () => {
    const sourceId = await open(iconv.encode('Müller;x\nGröße;y\nÄrger;z\n', 'windows-1252'));
    const first = await preview(sourceId);
    expect(first.reading).toMatchObject({ encoding: 'windows-1252', delimiter: ';' });
    expect(first.guesses.encoding?.length).toBeGreaterThan(0);
    expect(first.guesses.header).toBe(true);
    const second = await preview(sourceId, { encoding: 'windows-1252', header: false });
    expect(second.guesses).toEqual({ encoding: null, delimiter: null, header: false });
    expect((await preview(sourceId)).guesses).toEqual(first.guesses);
  });

  it('says which columns the header is asked about once they are mapped, until a person chose', async () => {
    const rows = Array.from({ length: 9 }, (_, i) => `tok${i};D-${i};B${i};${i}.50\n`).join('');
    const sourceId = await open(`tok77;D-77;B77;Betrag\n${rows}`);
    const asked = { encoding: null, delimiter: null, header: false, headerColumns: [3] };
    expect((await preview(sourceId)).guesses).toEqual(asked);
    const chosen = await preview(sourceId, { header: false });
    expect(chosen.guesses).toEqual({ encoding: null, delimiter: null, header: false });
  });

  it('reports a header whose quotes do not agree', async () => {
    const { notices } = await preview(await open('na"me,"tok"en\na,tok1\n'));
    expect(notices).toContainEqual({ kind: 'header-damaged', row: 0, column: null, count: 1 });
  });

  it('reads every encoding that can be chosen, and sends what the file says', async () => {
    const sourceId = await open(iconv.encode('name,token\n表山,tokソ|1\nｱ,tok2\n', 'shift_jis'));
    const plan = planOf([detokenize(1)], { encoding: 'shift_jis' });
    expect(await app.run(sourceId, plan)).toMatchObject({ state: 'finished', tally: { rows: 2, ok: 2 } });
    expect(app.service.sent.flat()).toEqual(['tokソ|1', 'tok2']);
  });

  it('flags the one broken row of a UTF-8 file, and UTF-16 that is cut in a character', async () => {
    const rows = ['name,token\n', 'José,tok1\n', 'Zoë,tok2\n', Buffer.from([0xf0, 0x9f, 0x92]), ',tok3\n'];
    const damaged = await open(Buffer.concat(rows.map((row) => Buffer.from(row))));
    const run = (sourceId: string, encoding: 'utf-8' | 'utf-16le') =>
      app.run(sourceId, planOf([detokenize(1)], { encoding }));
    expect(await run(damaged, 'utf-8')).toMatchObject({ tally: { rows: 3, ok: 2, failed: 1 } });
    const utf16 = Buffer.from('name,token\na,tok1\nb,tok2', 'utf16le');
    for (const cut of [1, 0]) {
      const tally = (await run(await open(utf16.subarray(0, utf16.length - cut)), 'utf-16le')).tally;
      expect(tally).toMatchObject({ rows: 2, failed: cut });
    }
  });
});
