/**
 * Countries of the register of IBANs (ISO 13616) with the length of theirs, and at the end those that use them without
 * being in it; `n`: digits alone behind the check digits.
 */
const register =
  'AD24 AE23n AL28 AT20n AZ28 BA20n BE16n BG22 BH22 BI27n BR29 BY28 CH21 CR22n CY28 CZ24n DE22n DJ27n DK18n DO28 EE20n ' +
  'EG29n ES24n FI18n FK18 FO18n FR27 GB22 GE22 GI23 GL18n GR27 GT28 HN28 HR21n HU28n IE22 IL23n IQ23 IS26n IT27 JO30 ' +
  'KW30 KZ20 LB28 LC32 LI21 LT20n LU20 LV21 LY25n MC27 MD24 ME22n MK19 MN20n MR27n MT31 MU30 NI28 NL18 NO15n OM23 PK24 ' +
  'PL28n PS29 PT25n QA29 RO24 RS22n RU33 SA24 SC31 SD18n SE24n SI19n SK24n SM27 SO23n ST25n SV28 TL23n TN24n TR26 UA29 ' +
  'VA22n VG24 XK20n YE30 ' +
  'AO25n BF28 BJ28 CF27n CG27n CI28 CM27n CV25n DZ26n GA27n GQ27n GW25 IR26n KM27n MA28n MG27n ML28 MZ25n NE28 SN28 TD27n TG28';
const countries = new Map(
  register
    .split(' ')
    .map((entry) => [
      entry.slice(0, 2),
      { length: Number(entry.slice(2, 4)), isDigits: entry.endsWith('n') },
    ]),
);

/** By both letters, whatever their case: whether there is such a country. */
const knownCountries = new Uint8Array(0x400);
for (const country of countries.keys())
  knownCountries[((country.charCodeAt(0) & 0x1f) << 5) | (country.charCodeAt(1) & 0x1f)] = 1;

/** Whether an IBAN can begin with two letters of ASCII. */
export const isIbanCountry = (first: number, second: number): boolean =>
  knownCountries[((first & 0x1f) << 5) | (second & 0x1f)] === 1;

/** As many characters that are no letters and digits may stand between two of an IBAN. */
const maxGap = 3;

const isLetter = (unit: number): boolean => (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a;
const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;

/**
 * Where the IBAN ends that begins there, -1 where none does. It may be a part of a longer word: its country says how long
 * it is, and its check digits whether it is one.
 */
function ibanEnd(text: string, from: number): number {
  const bare: string[] = [];
  let length = 2;
  let isDigits = false;
  let isSpaced = false;
  let last = from - 1;
  for (let at = from; bare.length < length; at++) {
    if (at >= text.length || at - last > maxGap + 1) return -1;
    const unit = text.charCodeAt(at);
    const digit = isDigit(unit);
    if (!digit && !isLetter(unit)) {
      if (unit > 0x7f && /\p{L}/u.test(text.charAt(at))) return -1;
      isSpaced ||= bare.length < 3;
      continue;
    }
    if (digit !== bare.length >= 2 && (bare.length < 4 || isDigits)) return -1;
    bare.push(text.charAt(at));
    last = at;
    if (bare.length === 3) {
      const country = bare.slice(0, 2).join('');
      const rules = countries.get(country.toUpperCase());
      // "At 20 ..." and "no 15 ..." are words.
      if (rules === undefined || (isSpaced && country !== country.toUpperCase())) return -1;
      ({ length, isDigits } = rules);
    } else if (bare.length === 2) length = 3;
  }
  return passesCheck(bare) ? last + 1 : -1;
}

/** Modulo 97, with country and check digits behind the rest and letters as two digits each. */
function passesCheck(bare: readonly string[]): boolean {
  let rest = 0;
  for (const character of [...bare.slice(4), ...bare.slice(0, 4)]) {
    const value = parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** The first place from `from` on where two letters of a country stand before a digit, with little between; -1 without one. */
function ibanStart(text: string, from: number): number {
  // Where both letters are, and how much is between them and behind the last one.
  let [first, second, gapBefore, gap] = [-1, -1, 0, 0];
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (isLetter(unit)) {
      first = second;
      second = at;
      gapBefore = gap;
      gap = 0;
    } else if (!isDigit(unit)) gap++;
    else {
      const isNear = first >= 0 && gap <= maxGap && gapBefore <= maxGap;
      if (isNear && isIbanCountry(text.charCodeAt(first), text.charCodeAt(second))) return first;
      first = second = -1;
    }
  }
  return -1;
}

/**
 * Every IBAN of a text, whatever separates its parts and whatever stands before and behind it, as something else, and each
 * part between them.
 */
export function replaceIbans(
  text: string,
  replace: (iban: string, from: number) => string,
  between: (part: string, from: number) => string = (part) => part,
): string {
  let changed = '';
  let end = 0;
  for (let start = ibanStart(text, 0); start >= 0; start = ibanStart(text, Math.max(start + 1, end))) {
    const to = ibanEnd(text, start);
    if (to < 0) continue;
    changed += between(text.slice(end, start), end) + replace(text.slice(start, to), start);
    end = to;
  }
  return end === 0 ? between(text, 0) : changed + between(text.slice(end), end);
}

/** Whether a text is one IBAN and nothing else. */
export function isIban(text: string): boolean {
  const trimmed = text.trim();
  return trimmed !== '' && ibanEnd(trimmed, 0) === trimmed.length;
}
