import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/**
 * Writes each verifier into `folder` as one file that any Node runs: its types taken off and nothing else, since an
 * auditor reads it. Older versions of Node do not know `import.meta.main`, and would do nothing without a word.
 */
export function writeVerifiers(folder: string): void {
  fs.mkdirSync(folder, { recursive: true });
  for (const name of ['verify-audit', 'verify-evidence']) {
    const file = fileURLToPath(new URL(`${name}.ts`, import.meta.url));
    const source = fs.readFileSync(file, 'utf8').replace('import.meta.main', 'true');
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
      },
    });
    fs.writeFileSync(path.join(folder, `${name}.mjs`), outputText);
  }
}
