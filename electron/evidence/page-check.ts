/*
 * What the page of evidence runs in a reader's browser. Its text is put into the page, so it imports nothing, and nothing
 * that is outside of the function is used in it. `scripts/verify-evidence.ts` looks at more and shares no code with it.
 */

/** What it uses of the page, since main knows no types of a browser. */
interface PageElement {
  textContent: string;
  className: string;
  append(...children: PageElement[]): void;
  replaceWith(other: PageElement): void;
}

declare const document: {
  readonly doctype: { readonly name: string; readonly publicId: string; readonly systemId: string } | null;
  readonly documentElement: {
    readonly lang: string;
    readonly attributes: { readonly length: number };
    readonly getHTML?: () => string;
  };
  readonly childNodes: { readonly length: number };
  readonly readyState: string;
  readonly body: PageElement;
  getElementById(id: string): PageElement;
  adoptNode(other: PageElement): PageElement;
  createElement(name: string): PageElement;
  addEventListener(name: string, listener: () => void): void;
};

declare class DOMParser {
  parseFromString(text: string, type: 'text/html'): { readonly body: PageElement };
}

interface SignedDocument {
  readonly case: string;
  readonly log: {
    readonly state: string;
    readonly head: { readonly sequence: number; readonly mac: string };
  };
  readonly lines: readonly { readonly link: number | null; readonly sha256: string; readonly text: string }[];
  readonly links: readonly string[] | null;
  readonly page: { readonly sha256: string };
  readonly signature: { readonly algorithm: string; readonly publicKey: string; readonly value: string };
}

interface SignedEntry {
  readonly sequence: number;
  readonly caseReference: string | null;
  readonly phase: string;
  readonly of: number | null;
  readonly prev: string;
  readonly mac: string;
}

/**
 * Checks the signature, each line, the chain and every character of the page as the browser read it, and writes what was
 * found into it. Whose key signed, a page can't know: it shows the fingerprint, and never says more than "consistent".
 */
export async function checkPage(): Promise<void> {
  const holds: string[] = [];
  const problems: string[] = [];
  const kept = document.getElementById('evidence');
  const written = kept.textContent;
  // The browser's own text of the page, but for the document: it is made so that this is what was written.
  kept.textContent = '';
  const { doctype, documentElement: root } = document;
  const page = `<!doctype ${doctype?.name ?? ''}><html lang="${root.lang}">${root.getHTML?.() ?? ''}</html>`;
  // What no text of the inside tells: other attributes, comments around it, another document type.
  const isBare =
    root.attributes.length === 1 &&
    document.childNodes.length === 2 &&
    `${doctype?.publicId ?? ''}${doctype?.systemId ?? ''}` === '';
  // From here on the reader sees what that text says and nothing else: a shadow root, which a template can make without a
  // script, hides what it is in, and is in no text.
  document.body.replaceWith(document.adoptNode(new DOMParser().parseFromString(page, 'text/html').body));
  const verdict = document.getElementById('verdict');
  const list = document.getElementById('findings');
  document.getElementById('evidence').textContent = written;
  verdict.className = 'checking';

  function show(kind: string, title: string): void {
    verdict.className = kind;
    verdict.textContent = title;
    for (const [mark, texts] of [
      ['✓', holds],
      ['✗', problems],
    ] as const) {
      for (const text of texts) {
        const item = document.createElement('li');
        item.textContent = `${mark} ${text}`;
        list.append(item);
      }
    }
  }
  function check(isTrue: boolean, what: string, otherwise: string): void {
    if (isTrue) holds.push(what);
    else problems.push(otherwise);
  }
  const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
    Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const utf8 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(new TextEncoder().encode(text));
  const sha256 = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
    [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join('');

  async function checkLines(evidence: SignedDocument): Promise<void> {
    const { lines, links, log } = evidence;
    const begun: number[] = [];
    let isWhole = lines.length > 0;
    let isInOrder = true;
    let isChained = links === null || links.at(-1) === log.head.mac;
    let before = { sequence: 0, link: 0 };
    for (const { text, sha256: expected, link } of lines) {
      const entry = JSON.parse(text) as SignedEntry;
      const isOwn = (await sha256(utf8(text))) === expected && entry.caseReference === evidence.case;
      if (!isOwn || !text.endsWith(`,"mac":"${entry.mac}"}`)) isWhole = false;
      if (entry.sequence <= before.sequence) isInOrder = false;
      if (entry.phase === 'begun') begun.push(entry.sequence);
      else if (entry.of !== null && !begun.includes(entry.of)) isInOrder = false;
      const at = link ?? 0;
      if (links !== null && (at <= before.link || links[at] !== entry.mac || links[at - 1] !== entry.prev))
        isChained = false;
      before = { sequence: entry.sequence, link: at };
    }
    const { sequence, mac } = log.head;
    check(isWhole, `${lines.length} lines of this case, each with its SHA-256 and MAC`, 'A line was changed');
    check(isInOrder, 'Each end of an act behind its beginning', 'The lines are not in order');
    if (links === null) holds.push('The chain was too long to be put in: look for it in the log itself');
    else
      check(
        isChained,
        `A chain of ${links.length} links: each line follows from the one before it in the log, up to entry ${sequence}, ${mac}`,
        'The chain of the log does not hold',
      );
    check(
      log.state === 'intact',
      'The log was intact when this was made',
      'The log was broken when this was made',
    );
  }

  // An old browser, or one that gives a page from a file no cryptography, says nothing about the evidence.
  const cannot =
    'Not checked: this browser can’t check it. Open it in another, or run verify-evidence as said below.';
  const { subtle } = crypto as { readonly subtle?: unknown };
  if (subtle === undefined || root.getHTML === undefined) {
    show('unknown', cannot);
    return;
  }
  try {
    const evidence = JSON.parse(written) as SignedDocument;
    const { signature, ...signed } = evidence;
    const der = bytesOf(signature.publicKey);
    const signer = await sha256(der);
    let isSigned = false;
    try {
      const key = await crypto.subtle.importKey('spki', der, 'Ed25519', false, ['verify']);
      isSigned = await crypto.subtle.verify(
        'Ed25519',
        key,
        bytesOf(signature.value),
        utf8(JSON.stringify(signed)),
      );
    } catch (error) {
      if ((error as Error).name === 'NotSupportedError') {
        show('unknown', cannot);
        return;
      }
    }
    const asMade = JSON.stringify(evidence).replaceAll('<', '\\u003c');
    // The signature itself is not signed: it is as it was made alone, to the last bit of its Base64.
    const isOurs =
      Object.keys(signature).length === 3 &&
      signature.algorithm === 'Ed25519' &&
      [signature.publicKey, signature.value].every(
        (text) => btoa(String.fromCharCode(...bytesOf(text))) === text,
      );
    check(
      isSigned && isOurs && written === asMade,
      `A signature of ${signer}`,
      'The signature does not hold',
    );
    check(
      isBare && (await sha256(utf8(page))) === evidence.page.sha256,
      'Every character of this page, as this browser reads it',
      'This page is not as it was made. (A copy that a browser saved is not, nor one that an extension changes)',
    );
    await checkLines(evidence);
    document.getElementById('signer').textContent = signer;
  } catch {
    problems.push('The evidence in this page can’t be read');
  }
  if (problems.length > 0) show('bad', 'Not valid: this page or the evidence in it was changed.');
  else show('consistent', 'Consistent, signer unknown. Compare the fingerprint with the one you were told.');
}
