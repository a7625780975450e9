import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { Decrypter } from 'age-encryption';
import { hmac, keyIdOf, readLine, signLine } from '../../../electron/audit/lines.ts';
import { openOutputFile } from '../../../electron/batch/output/output-file.ts';
import { createFormat, deriveKey } from '../../../electron/built-in-service/account.ts';
import { createServerIdentity } from '../../../electron/built-in-service/certificate.ts';
import { createFf1, expandAesKey } from '../../../electron/built-in-service/engine/ff1.ts';
import { tokenizeAll } from '../../../electron/built-in-service/engine/format.ts';
import { createPermutation } from '../../../electron/built-in-service/engine/permutation.ts';
import type { Outcome } from '../../../electron/contract/errors.ts';
import { readPkcs12 } from '../../../electron/parsing/pkcs12.ts';
import { evidenceDocument, evidenceKey } from '../../../electron/evidence/evidence.ts';
import { createEncryptedFile, openEncryptedFile } from '../../../electron/storage/encrypted-file.ts';
import { createRecordCipher } from '../../../electron/storage/encryption.ts';
import { openKey, wrapKey } from '../../../electron/storage/passphrase.ts';

/*
 * What the product does with cryptography, each once: run by a test in its own process, and by `ProductCryptoRequest` in
 * a runtime that has another library for it. Vitest is not imported here: that runtime could not load it.
 */

/** A name of an algorithm, and what OpenSSL would call it. */
export interface NamedAlgorithm {
  readonly kind: 'cipher' | 'digest' | 'curve';
  readonly name: string;
}

/** What a runtime made for another to open. */
export interface Made {
  readonly age: string;
  readonly record: string;
  readonly file: string;
  readonly verifier: string;
  readonly identity: Awaited<ReturnType<typeof createServerIdentity>>;
  readonly line: string;
}

export interface ProductCryptoRequest {
  /** To write into. */
  readonly folder: string;
  readonly made: Made;
  readonly names: readonly NamedAlgorithm[];
}

export interface ProductCryptoAnswer {
  readonly runtime: Readonly<Record<string, string | undefined>>;
  readonly lists: { readonly ciphers: string[]; readonly digests: string[]; readonly curves: string[] };
  readonly computed: Awaited<ReturnType<typeof compute>>;
  readonly made: Made;
  readonly opened: Awaited<ReturnType<typeof openMade>>;
  readonly named: readonly string[];
}

const secret = Buffer.from('product crypto: thirty-two bytes');
const words = 'canary-ä€';
const text = 'pan,4111111111111111\r\n'.repeat(10_000);

function valueOf<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Error(outcome.failure.code);
}

const fixtures = path.join(import.meta.dirname, '../../fixtures/pkcs12');

/** What has one right answer. */
export async function compute() {
  const batch = (keyBytes: number): number[] => {
    const key = expandAesKey(secret.subarray(0, keyBytes));
    const values = Array.from({ length: 20 }, (_, at) => at * 49_999);
    const tweaks = values.map((value) => Buffer.from(String(value).padStart(8, '0')));
    const permutation = createPermutation(key, 1_000_000, 8);
    const encrypted = permutation.encryptBatch(tweaks, values);
    if (String(permutation.decryptBatch(tweaks, encrypted)) !== String(values)) throw new Error('FF1');
    return encrypted;
  };
  const format = createFormat(secret, {
    kind: 'card-number',
    name: 'cards',
    label: 'Cards',
    luhn: 'any',
    masking: { keepFirst: 6, keepLast: 4, character: '*' },
  });
  const cards = Array.from({ length: 12 }, (_, at) => `41111111111${String(11_111 + at * 7)}`);
  const chain = { head: { sequence: 1, mac: 'a'.repeat(64) }, lines: [], links: ['b'.repeat(64)] };
  const facts = {
    caseReference: 'case 4',
    made: new Date(0),
    by: 'agent',
    application: '1.0.0',
    log: { state: 'intact', checked: 1 },
    page: { name: 'page.html', text: 'page' },
  } as const;
  return {
    // NIST, "SP 800-38G examples with intermediate values", FF1 sample 2.
    ff1: createFf1(expandAesKey(Buffer.from('2B7E151628AED2A6ABF7158809CF4F3C', 'hex')), {
      radix: 10,
      length: 10,
      tweakLength: 10,
    })
      .encrypt(Buffer.from('39383736353433323130', 'hex'), 123_456_789n)
      .toString(),
    ff1Batches: [16, 24, 32].map(batch),
    tokens: tokenizeAll(format, cards),
    pkcs12: fs
      .readdirSync(fixtures)
      .sort()
      .map((name) => {
        const file = fs.readFileSync(path.join(fixtures, name));
        const right = name.startsWith('no-passphrase') ? '' : words;
        return { name, right: readPkcs12(file, right), wrong: readPkcs12(file, `${right}x`) };
      }),
    evidence: evidenceDocument(chain, facts, evidenceKey(secret)),
    hkdf: deriveKey(secret, 'purpose', 40).toString('hex'),
    audit: [hmac(secret, words), keyIdOf(secret)],
    lock: await Promise.all([openKey(words, knownVerifier), openKey(`${words}x`, knownVerifier)]),
  };
}

/** Of `words`, made once with OpenSSL, as earlier versions did. */
const knownVerifier = 'scrypt:14:pIWf2TNhke+4jwjyB3LJZQ==:rJi48P244+wtcrYh7gJQFqsRbQ2mOheTk57RzIKcy2A=';

/** What has random parts, in files of `folder` where it is one. The costs of scrypt are the product's unless given. */
export async function makeProductCrypto(
  folder: string,
  cost: { age?: number; lock?: number } = {},
): Promise<Made> {
  const age = path.join(folder, 'export.age');
  const output = valueOf(await openOutputFile(age, { passphrase: words, workFactor: cost.age }));
  for (let at = 0; at < text.length; at += 100_000)
    valueOf(await output.write(Buffer.from(text.slice(at, at + 100_000))));
  valueOf(await output.finish());
  const cipher = createRecordCipher(secret, 'job');
  const file = path.join(folder, 'encrypted');
  const writer = valueOf(await createEncryptedFile(file, cipher));
  valueOf(await writer.write(Buffer.from(text)));
  valueOf(await writer.finish());
  return {
    age,
    file,
    record: cipher.encrypt(Buffer.from(words), 'chunk 1').toString('base64'),
    verifier: await wrapKey(words, secret, cost.lock),
    identity: await createServerIdentity(),
    line: signLine(secret, segment, '0'.repeat(64)).bytes.toString('base64'),
  };
}

const segment = {
  v: 1,
  kind: 'segment',
  segment: 1,
  at: '2026-01-01T00:00:00.000Z',
  next: 1,
  key: '0123456789abcdef',
  kept: true,
  after: null,
  seals: null,
} as const;

/** Opens what another runtime made: true for each that is as it should be. */
export async function openMade({ age, record, file, verifier, identity, line }: Made) {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(words);
  const cipher = createRecordCipher(secret, 'job');
  const encrypted = await openEncryptedFile(file, cipher);
  const stored = await encrypted?.read(70_000, 100_000);
  await encrypted?.close();
  const altered = Buffer.from(record, 'base64');
  altered[20] = (altered[20] ?? 0) ^ 1;
  const [ca, leaf] = [identity.caPem, identity.certificatePem].map((pem) => new crypto.X509Certificate(pem));
  const lineBytes = Buffer.from(line, 'base64').subarray(0, -1);
  return {
    age: (await decrypter.decrypt(fs.readFileSync(age), 'text')) === text,
    record: cipher.decrypt(Buffer.from(record, 'base64'), 'chunk 1')?.toString() === words,
    movedRecord: cipher.decrypt(Buffer.from(record, 'base64'), 'chunk 2') === null,
    alteredRecord: cipher.decrypt(altered, 'chunk 1') === null,
    file: stored?.toString() === text.slice(70_000, 170_000),
    verifier: Buffer.from((await openKey(words, verifier)) ?? '').equals(secret),
    wrongPassphrase: (await openKey(`${words}x`, verifier)) === null,
    authority: ca !== undefined && ca.verify(ca.publicKey),
    certificate: ca !== undefined && leaf?.verify(ca.publicKey) === true,
    certificateKey: leaf?.checkPrivateKey(crypto.createPrivateKey(identity.privateKeyPem)) === true,
    auditLine: readLine(secret, lineBytes)?.kind === 'segment',
  };
}

/** An answer of the algorithm, or the code of its error: the same in each library that has it. */
export function tryAlgorithm({ kind, name }: NamedAlgorithm, library = crypto): string {
  try {
    switch (kind) {
      case 'digest': {
        const derived = library.pbkdf2Sync('a', 'b', 2, 16, name).toString('hex');
        const expanded = Buffer.from(library.hkdfSync(name, 'a', 'b', 'c', 16)).toString('hex');
        const mac = library.createHmac(name, secret).update(text).digest('hex');
        return [library.createHash(name).update(text).digest('hex'), mac, derived, expanded].join(' ');
      }
      case 'cipher': {
        const { keyLength = 0, ivLength = 0 } = library.getCipherInfo(name) ?? {};
        const key = Buffer.alloc(keyLength, secret);
        const cipher = library.createCipheriv(name, key, ivLength === 0 ? null : Buffer.alloc(ivLength, 7));
        return Buffer.concat([cipher.update(secret), cipher.final()]).toString('hex');
      }
      case 'curve': {
        const ecdh = library.createECDH(name);
        ecdh.setPrivateKey(Buffer.alloc(28, 7));
        return ecdh.getPublicKey('hex');
      }
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
}

if (import.meta.main) {
  const { folder, made, names } = JSON.parse(process.argv[2] ?? '{}') as ProductCryptoRequest;
  const answer: ProductCryptoAnswer = {
    runtime: process.versions,
    lists: { ciphers: crypto.getCiphers(), digests: crypto.getHashes(), curves: crypto.getCurves() },
    computed: await compute(),
    made: await makeProductCrypto(folder),
    opened: await openMade(made),
    named: names.map((one) => tryAlgorithm(one)),
  };
  console.log(JSON.stringify(answer));
}
