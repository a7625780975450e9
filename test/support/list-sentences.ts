import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'svelte/compiler';
import ts from 'typescript';

/** A text that the window can show, and where it stands. What is filled in is `…`. */
export interface Sentence {
  readonly file: string;
  readonly text: string;
}

const root = new URL('../../src/', import.meta.url).pathname;
/** Attributes whose text a person sees or hears. */
const spokenAttributes = new Set([
  ...['label', 'title', 'placeholder', 'hint', 'aria-label', 'text', 'action', 'empty', 'alt', 'about'],
]);

/** All texts of the window, in the order of their files. Texts that only look like one, such as names, may be among them. */
export function listSentences(): Sentence[] {
  const files = fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|svelte)$/.test(file))
    .sort();
  return files.flatMap((file) => {
    const source = fs.readFileSync(path.join(root, file), 'utf8');
    const texts = file.endsWith('.svelte') ? textsOfComponent(source) : textsOfScript(source);
    return [...new Set(texts)].filter((text) => !text.startsWith('…-')).map((text) => ({ file, text }));
  });
}

const squeeze = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ').trim();

/** In a script a text is what begins with a capital letter and has a word in it. */
const isSpoken = (text: string): boolean =>
  /^[A-Z…][\w’…-]*(?:[ .,:]|$)/.test(text) &&
  /[a-z]{2}/.test(text) &&
  !/^[A-Z][a-z]+(?:[A-Z][a-z]+)+$/.test(text) &&
  !/^Arrow|^Page|^(?:Escape|Enter|Home|End|Tab|Control|Backspace|Delete)\b/.test(text) &&
  !/[{}<>]|=>/.test(text);

function textsOfScript(source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) add(node.text);
    if (ts.isTemplateExpression(node))
      add(node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join(''));
    ts.forEachChild(node, visit);
  };
  const add = (text: string): void => {
    if (isSpoken(squeeze(text))) found.push(squeeze(text));
  };
  visit(ts.createSourceFile('x.ts', source, ts.ScriptTarget.Latest, true));
  return found;
}

interface Node {
  readonly type?: string;
  readonly [member: string]: unknown;
}

const blocks = new Set(['RegularElement', 'Component', 'SvelteElement']);
const inline = new Set(['strong', 'em', 'span', 'a', 'kbd', 'code', 'b']);

function textsOfComponent(source: string): string[] {
  const found: string[] = [];
  const ast = parse(source, { modern: true }) as unknown as Node;
  for (const script of ['module', 'instance']) {
    const part = ast[script] as { content?: { start: number; end: number } } | null;
    if (part?.content) found.push(...textsOfScript(source.slice(part.content.start, part.content.end)));
  }
  walk(ast['fragment'] as Node, source, found);
  return found;
}

function walk(node: Node, source: string, found: string[]): void {
  if (node.type === 'Fragment') {
    let line = '';
    const end = (): void => {
      const text = squeeze(line).replaceAll(/ {2,}/g, ' ');
      if (/[A-Za-z]{2}/.test(text)) found.push(text);
      line = '';
    };
    for (const child of (node['nodes'] as Node[] | undefined) ?? []) {
      if (child.type === 'Text') line += String(child['data']).replaceAll(/\s+/g, ' ');
      else if (child.type === 'ExpressionTag') {
        line += '…';
        walk(child, source, found);
      } else if (child.type === 'RegularElement' && inline.has(String(child['name']))) {
        line += textOf(child);
        walk(child, source, found);
      } else {
        if (blocks.has(child.type ?? '')) end();
        walk(child, source, found);
      }
    }
    end();
    return;
  }
  if (node.type === 'Attribute' && !spokenAttributes.has(String(node['name']))) {
    // A text may stand in an expression of any attribute of a component, but not as a class, an id or a type.
    if (Array.isArray(node['value']) || node['value'] === true) return;
    if (['class', 'style', 'type', 'variant', 'role', 'id'].includes(String(node['name']))) return;
  }
  if (node.type === 'Attribute' && Array.isArray(node['value'])) {
    const text = (node['value'] as Node[])
      .map((part) => (part.type === 'Text' ? String(part['data']) : '…'))
      .join('');
    if (/[A-Za-z]{2}/.test(text)) found.push(squeeze(text));
  }
  const { start, end } = node as { start?: number; end?: number };
  if (node.type === 'ExpressionTag' && start !== undefined && end !== undefined) {
    found.push(...textsOfScript(`(${source.slice(start + 1, end - 1)})`));
    return;
  }
  for (const [key, value] of Object.entries(node)) {
    if (['start', 'end', 'loc', 'metadata', 'parent'].includes(key)) continue;
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value])
      if (typeof child === 'object' && child !== null && 'type' in child) walk(child as Node, source, found);
  }
}

function textOf(node: Node): string {
  const { nodes } = node['fragment'] as { nodes: Node[] };
  return nodes
    .map((child) =>
      child.type === 'Text' ? String(child['data']) : child.type === 'RegularElement' ? textOf(child) : '…',
    )
    .join('');
}
