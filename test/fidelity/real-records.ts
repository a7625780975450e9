import { detectFormat } from '../../electron/batch/reading/detect.ts';
import { codecOf } from '../../electron/batch/reading/encodings.ts';
import type { Encoding } from '../../electron/contract/models/batch.ts';
import type { RecordLayout } from '../../electron/contract/models/records.ts';
import { presetOf } from '../../electron/contract/record-presets.ts';
import type { RecordCase } from './fixed-width.ts';
import { fromMemory } from './run-cases.ts';

/** A payroll as a bank’s program writes it: two batches, addenda, filled up to a block of ten. */
const payroll = [
  '101 091000019 1234567892611260815A094101WELLS FARGO BANK NA    ACME WIDGETS INC               ',
  '5200ACME WIDGETS INC                    1123456789PPDPAYROLL   NOV 26261127   1091000010000001',
  "62202100002144556677889900   0000245000EMP-00017      MARY-ANN O'NEIL         0091000010000001",
  '6220210000214111111111111111 0000198750EMP-00018      JOHN Q PUBLIC           0091000010000002',
  '632121000358000123456789     0000310000EMP-00019      DE LA CRUZ, JOSE        1091000010000003',
  '705BONUS FOR Q3, SEE LETTER OF 11/02                                             00010000003  ',
  '820000000400163100400000000000000000007537501123456789                         091000010000001',
  '9000001000001000000040016310040000000000000000000753750                                       ',
  '9'.repeat(94),
  '9'.repeat(94),
];

/** A customer master that a mainframe unloads: 80 bytes, no line ends, a header and a trailer. */
const unload = [
  'HDR20261126CUSTMAST  UNLOAD  PROD.CARD.CUSTMAST.G0042V00',
  ...[
    ['0000017', '4012888888881881', 'SMITH', 'JOHN', '20090814', 'NY'],
    ['0000018', '5555555555554444', "O'NEIL", 'PATRICIA', '20110203', 'MA'],
    ['0000019', '4111111111111111', 'GARCIA LOPEZ', 'ANA', '20150530', 'TX'],
    ['0000023', '5105105105105100', 'LI', 'WEI', '20180121', 'CA'],
    ['0000024', '4222222222222220', 'VAN DER BERG', 'MARIEKE', '20200917', 'WA'],
    ['0000031', '6011111111111117', 'JOHNSON', 'ROBERT', '20210704', 'OH'],
  ].map(
    ([id = '', card = '', last = '', first = '', opened = '', state = '']) =>
      `DTL${id}${card}   ${last.padEnd(16)}${first.padEnd(12)}${opened} ${state}`,
  ),
  'TRL0000006',
].map((record) => record.padEnd(80));

/** A list of a German back office: amounts to the right, blanks at the ends of lines cut off. */
const report = [
  'Konto       Name                     Karte                    Betrag',
  '0004711     Jürgen Müller            4012888888881881       1.250,00',
  '0004712     Änne Großmann            5555555555554444          17,35',
  '0004713     Björn Weiß-Östermann     4111111111111111      12.000,00',
  '0004714     Zoë Färber               5105105105105100',
  '0004715     Ülkü Şahin'.replace('Ş', 'S'),
  '0004716     Jörg Kästner             6011111111111117         -48,10',
];

/** A payment order on a disk: an A, two payments and an E, each of 128 bytes, as they were sent to German banks. */
const order = [
  '0128AGK5001051700000000STADTWERKE MUSTERSTADT     261126    0001234567               1',
  '0187C00000000500105170001234567000000000012351000 00000000000500105170001234567' +
    '00000012345   JUERGEN MUELLER',
  'STADTWERKE MUSTERSTADT     ABSCHLAG NOVEMBER          1  00',
  '0187C00000000370400440005320130000000000012451000 00000000000500105170001234567' +
    '00000009900   ANNE GROSSMANN',
  'STADTWERKE MUSTERSTADT     ABSCHLAG NOVEMBER          1  00',
  `0128E     0000002${'0'.repeat(13)}${'655469700'.padStart(17, '0')}${'87050561'.padStart(17, '0')}${'22245'.padStart(13, '0')}`,
].map((record) => record.padEnd(128));

/** Drafts of a card scheme’s clearing file with their second parts, between a header and trailers. */
const clearing = [
  '90400012026330                                    TEST',
  '0500401288888888188100000024761406330263300012345600012345112600000010450084000000010450084' +
    '0KAFFEEHAUS AM DOM        KOELN        276 581250667NRW1 1 00A123456 1 05 6330 0',
  '0501            000000              TERMINAL 00017',
  '060045555555555544440000002476140633026330001234570001234511260000000099908400000000099908' +
    '40BUCHHANDLUNG WEISS       BONN         276 594253111NRW1 1 00B654321 1 05 6330 0',
  '9100400012026330 000000000000002',
  '9200400012026330 000000000000002',
].map((record) => record.slice(0, 168).padEnd(168));

const encode = (text: string, encoding: Encoding): Buffer => {
  const encoded = codecOf(encoding).encode(text);
  if (!encoded.ok) throw new Error(`${encoding} has no ${encoded.character}`);
  return encoded.bytes;
};

/** As programs write them. What is said of no layout is read by the one that the app proposes. */
export async function realRecords(): Promise<RecordCase[]> {
  const nacha = presetOf('nacha');
  const files: { name: string; text: string; encoding: Encoding; layout?: RecordLayout; mapped: string[] }[] =
    [
      {
        name: 'a payroll for NACHA, CRLF',
        text: payroll.join('\r\n') + '\r\n',
        encoding: 'utf-8',
        mapped: ['Account number', 'Individual name'],
      },
      {
        name: 'a payroll for NACHA on a mainframe, without line ends',
        text: payroll.join(''),
        encoding: 'ibm037',
        layout: { ...nacha, lines: false },
        mapped: ['Account number', 'Individual ID'],
      },
      {
        name: 'a customer master that a mainframe unloads',
        text: unload.join(''),
        encoding: 'ibm037',
        layout: {
          lines: false,
          bytes: 80,
          only: { start: 1, texts: ['DTL'] },
          columns: [
            { name: 'Card', start: 11, width: 19, fill: 'left' },
            { name: 'Last name', start: 30, width: 16 },
          ],
        },
        mapped: ['Card', 'Last name'],
      },
      {
        name: 'a list of a back office',
        text: report.join('\r\n'),
        encoding: 'windows-1252',
        layout: {
          lines: true,
          columns: [
            { name: 'Konto', start: 1, width: 12 },
            { name: 'Name', start: 13, width: 25 },
            { name: 'Karte', start: 38, width: 16 },
            { name: 'Betrag', start: 54, width: 15, fill: 'right' },
          ],
        },
        mapped: ['Name', 'Karte'],
      },
      {
        name: 'a payment order on a disk',
        text: order.join(''),
        encoding: 'utf-8',
        mapped: ['Account of the payee', 'Name of the payee'],
      },
      {
        name: 'a clearing file',
        text: clearing.join('\n') + '\n',
        encoding: 'utf-8',
        mapped: ['Account number', 'Merchant name'],
      },
    ];
  return Promise.all(
    files.map(async ({ name, text, encoding, layout: given, mapped }) => {
      const bytes = encode(text, encoding);
      const found = await detectFormat(fromMemory(bytes), {});
      if (!found.ok) throw new Error(`${name}: ${found.failure.code}`);
      const layout = given ?? found.value.records;
      if (layout === undefined) throw new Error(`${name}: no layout is proposed`);
      const columns = mapped.map((one) => layout.columns.findIndex((column) => column.name === one));
      if (columns.includes(-1)) throw new Error(`${name}: ${layout.columns.map((one) => one.name).join()}`);
      return { name, bytes, encoding, layout, mapped: columns };
    }),
  );
}
