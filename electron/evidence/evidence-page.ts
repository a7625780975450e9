import { createHash } from 'node:crypto';
import { detailsOf } from '../audit/entries.ts';
import type { EntryLine } from '../audit/lines.ts';
import type { CaseChain } from './case-chain.ts';
import { Markup, markup } from '../util/markup.ts';
import { checkPage } from './page-check.ts';

interface EvidencePageFacts {
  readonly caseReference: string;
  readonly made: Date;
  readonly by: string;
  readonly application: string;
  readonly log: { readonly state: 'intact' | 'broken'; readonly checked: number };
  /** Name of the JSON file that the page goes with. */
  readonly document: string;
  readonly signer: string;
}

const style = `
  :root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
  body { margin: 32px auto; max-width: 1100px; padding: 0 24px; }
  h1 { font-size: 22px; } h2 { font-size: 16px; margin-top: 32px; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 24px; } dt { opacity: .75; } dd { margin: 0; }
  .wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 12px; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0; border-bottom: 1px solid #8886; }
  code, td.mono { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
  .failed { font-weight: 600; } #findings { list-style: none; padding: 0; margin: 0; font-size: 12px; }
  #verdict { margin: 16px 0 8px; padding: 12px 16px; border: 2px solid; border-radius: 6px; font-weight: 600; }
  #verdict.bad, #verdict.checking { background: #c62828; border-color: #c62828; color: #fff; }
  #verdict.unknown { border-color: #b26a00; } #verdict.consistent { border-color: #2e7d32; }
  @media print { body { margin: 0; max-width: none; } }
`;

const phaseLabels: Record<EntryLine['phase'], string> = { begun: 'begun', ok: 'done', failed: 'failed' };

const cell = (text: string | number | null): Markup => markup`<td>${text ?? ''}</td>`;

function outcome({ phase, code }: EntryLine): Markup {
  const text = `${phaseLabels[phase]}${code === null ? '' : ` (${code})`}`;
  return phase === 'failed' ? markup`<td class="failed">${text}</td>` : cell(text);
}

function row({ entry }: CaseChain['lines'][number]): Markup {
  return markup`<tr>${[
    cell(entry.sequence),
    cell(entry.at),
    cell(entry.actor),
    cell(entry.action),
    outcome(entry),
    cell(entry.connection === null ? null : `${entry.connection} (${entry.environment ?? ''})`),
    cell(entry.policy),
    cell(entry.definition),
    cell(entry.reason),
    cell(entry.rows),
    markup`<td class="mono">${entry.requestId ?? ''}</td>`,
    cell(detailsOf(entry).join('; ')),
  ]}</tr>
`;
}

const heads = [
  'No.',
  'Time (UTC)',
  'Who',
  'What',
  'Outcome',
  'Connection',
  'Policy',
  'Definition',
  'Reason',
  'Values',
  'Request ID',
  'Details',
];

/** At the end of the body, run once all of the page is there. The name of the function may be another in the bundle. */
const script = `const check = ${checkPage.toString()};
document.addEventListener('DOMContentLoaded', () => void check());`;

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Starts from nothing: this script, this style, and nobody to talk to. */
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;

const slot = '<script type="application/json" id="evidence">';

/**
 * The same evidence for reading: one file, everything in it escaped, that fetches nothing and checks itself. It is written as
 * a browser writes it, tag by tag, so that the check can hold the whole page to the SHA-256 in the document. That one goes
 * in afterwards (`withDocument`).
 */
export function evidencePage(chain: CaseChain, facts: EvidencePageFacts): string {
  const state =
    facts.log.state === 'intact'
      ? `intact, ${facts.log.checked} entries checked`
      : 'BROKEN: the log has been changed from outside';
  const page = markup`<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(policy)}">
<meta name="viewport" content="width=device-width">
<title>Evidence on case ${facts.caseReference}</title>
<style>${new Markup(style)}</style></head><body>
<h1>Evidence on case ${facts.caseReference}</h1>
<p id="verdict" class="bad" role="status">Not checked: the check in this page did not run. Scripts are off, or the page was changed.</p>
<ul id="findings"></ul>
<h2>Who signed</h2>
<dl>
<dt>Fingerprint</dt><dd><code id="signer">${facts.signer}</code> (SHA-256 of the workstation’s public key)</dd>
</dl>
<p>Compare the fingerprint with the one that the workstation shows, told to you on another way than with this file. A page can’t know whose key it is, and whoever can change this page can change its check too: <code>verify-evidence</code> below trusts neither.</p>
<h2>What it is from</h2>
<dl>
<dt>Made</dt><dd>${facts.made.toISOString()} by ${facts.by}, Tokendesk ${facts.application}</dd>
<dt>Audit log</dt><dd>${state}</dd>
<dt>Last entry then</dt><dd>no. ${chain.head.sequence}, <code>${chain.head.mac}</code></dd>
<dt>Goes with</dt><dd>${facts.document}, the same signed document as in this page, which holds the SHA-256 of the page</dd>
</dl>
<h2>What was done</h2>
<div class="wide" role="region" aria-label="What was done" tabindex="0">
<table><thead><tr>${heads.map((head) => markup`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${chain.lines.map(row)}</tbody></table>
</div>
<p>Each act has a line from before it was done and one from after. No line holds a token, a cleartext or a secret.</p>
<h2>How to check it without this page</h2>
<p>Run <code>tokendesk --verify-evidence ${facts.document} --signer FINGERPRINT</code> with this page beside it, or, without Tokendesk, <code>node verify-evidence.mjs ${facts.document} --signer FINGERPRINT</code>: that file is in <code>resources/verify</code> of every installation and needs nothing but Node 20 or newer. It ends with 0 and the word “valid” where the signer is the one you name; without one it says “consistent, signer unknown” and ends with 3. With <code>--log FOLDER</code> it finds each line in the audit log and follows the chain from there to the log’s end.</p>
${new Markup(slot)}</script>
<script>${new Markup(script)}</script></body></html>`;
  return page.text;
}

/** No "<" may stand in it, or it could end the element that it is in. */
export function withDocument(page: string, document: object): string {
  const text = JSON.stringify(document).replaceAll('<', '\\u003c');
  const at = page.indexOf(slot) + slot.length;
  return page.slice(0, at) + text + page.slice(at);
}
