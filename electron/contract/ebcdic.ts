import type { Encoding } from './models/batch.ts';

/** Code pages of mainframes, in which no character of ASCII is that byte. */
export const ebcdicEncodings = [
  'ibm037',
  'ibm273',
  'ibm500',
  'ibm1047',
  'ibm1140',
  'ibm1141',
  'ibm1148',
] as const satisfies readonly Encoding[];
export type EbcdicEncoding = (typeof ebcdicEncodings)[number];
export const isEbcdic = (encoding: Encoding): encoding is EbcdicEncoding =>
  (ebcdicEncodings as readonly Encoding[]).includes(encoding);
