import { detailsOf } from '../audit/entries.ts';
import type { EntryLine } from '../audit/lines.ts';
import type { CaseChain } from './case-chain.ts';

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

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');

/** Markup that was escaped already; everything else that goes into `html` is. */
class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Insert = string | number | Markup | readonly Markup[];

function html(parts: TemplateStringsArray, ...inserts: readonly Insert[]): Markup {
  const written = inserts.map((insert) => {
    if (typeof insert === 'string' || typeof insert === 'number') return escape(String(insert));
    return (insert instanceof Markup ? [insert] : insert).map(({ text }) => text).join('');
  });
  return new Markup(String.raw({ raw: parts }, ...written));
}

/** No script, nothing fetched, no address to follow: a page that is opened years later on another machine. */
const style = `
  :root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
  body { margin: 32px auto; max-width: 1100px; padding: 0 24px; }
  h1 { font-size: 22px; } h2 { font-size: 16px; margin-top: 32px; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 24px; } dt { opacity: .75; } dd { margin: 0; }
  .wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 12px; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0; border-bottom: 1px solid #8886; }
  code, td.mono { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
  .failed { font-weight: 600; }
  @media print { body { margin: 0; max-width: none; } }
`;

const phaseLabels: Record<EntryLine['phase'], string> = { begun: 'begun', ok: 'done', failed: 'failed' };

const cell = (text: string | number | null): Markup => html`<td>${text ?? ''}</td>`;

function row({ entry }: CaseChain['lines'][number]): Markup {
  return html`<tr>
    ${[
      cell(entry.sequence),
      cell(entry.at),
      cell(entry.actor),
      cell(entry.action),
      html`<td class="${entry.phase}">
        ${phaseLabels[entry.phase]}${entry.code === null ? '' : ` (${entry.code})`}
      </td>`,
      cell(entry.connection === null ? null : `${entry.connection} (${entry.environment ?? ''})`),
      cell(entry.policy),
      cell(entry.definition),
      cell(entry.reason),
      cell(entry.rows),
      html`<td class="mono">${entry.requestId ?? ''}</td>`,
      cell(detailsOf(entry).join('; ')),
    ]}
  </tr>`;
}

/** The same evidence for reading: one file, everything in it escaped. */
export function evidencePage(chain: CaseChain, facts: EvidencePageFacts): string {
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
  const state =
    facts.log.state === 'intact'
      ? `intact, ${facts.log.checked} entries checked`
      : 'BROKEN: the log has been changed from outside';
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <meta name="viewport" content="width=device-width" />
        <title>Evidence on case ${facts.caseReference}</title>
        <style>
          ${new Markup(style)}
        </style>
      </head>
      <body>
        <h1>Evidence on case ${facts.caseReference}</h1>
        <dl>
          <dt>Made</dt>
          <dd>${facts.made.toISOString()} by ${facts.by}, Tokendesk ${facts.application}</dd>
          <dt>Audit log</dt>
          <dd>${state}</dd>
          <dt>Last entry then</dt>
          <dd>no. ${chain.head.sequence}, <code>${chain.head.mac}</code></dd>
          <dt>Signed by</dt>
          <dd><code>${facts.signer}</code> (SHA-256 of this workstation’s public key)</dd>
          <dt>Goes with</dt>
          <dd>${facts.document}, which is signed and holds the SHA-256 of this page</dd>
        </dl>
        <h2>What was done</h2>
        <div class="wide" role="region" aria-label="What was done" tabindex="0">
          <table>
            <thead>
              <tr>
                ${heads.map((head) => html`<th scope="col">${head}</th>`)}
              </tr>
            </thead>
            <tbody>
              ${chain.lines.map(row)}
            </tbody>
          </table>
        </div>
        <p>
          Each act has a line from before it was done and one from after. No line holds a token, a cleartext
          or a secret.
        </p>
        <h2>How to check it</h2>
        <p>
          Run <code>tokendesk --verify-evidence ${facts.document}</code> with this page beside it, or, without
          Tokendesk, <code>node verify-evidence.mjs ${facts.document}</code>: that file is in
          <code>resources/verify</code> of every installation and needs nothing but Node 20 or newer. With
          <code>--signer</code> it compares the key with the one the workstation shows; with
          <code>--log FOLDER</code> it finds each line in the audit log and follows the chain from there to
          the log’s end.
        </p>
      </body>
    </html> `;
  return page.text;
}
