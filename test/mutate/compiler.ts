import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/**
 * Whether the compiler refuses a file of the project with this text: in this process, so that a break costs half a second
 * and not a whole compilation. The file alone is looked at: a break changes no type that another sees.
 */
export function createCompiler(root: string): (file: string, text: string) => boolean {
  const config = ts.getParsedCommandLineOfConfigFile(
    path.join(root, 'tsconfig.json'),
    { noEmit: true },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  );
  if (config === undefined) throw new Error('tsconfig.json can’t be read');
  const changed = new Map<string, string>();
  let version = 0;
  const read = (file: string): string | undefined => changed.get(file) ?? ts.sys.readFile(file);
  const service = ts.createLanguageService({
    fileExists: (file) => ts.sys.fileExists(file),
    readFile: read,
    readDirectory: (...given) => ts.sys.readDirectory(...given),
    directoryExists: (folder) => ts.sys.directoryExists(folder),
    getDirectories: (folder) => ts.sys.getDirectories(folder),
    getCompilationSettings: () => config.options,
    getScriptFileNames: () => config.fileNames.filter((file) => !file.startsWith(path.join(root, 'test'))),
    getScriptVersion: (file) => (changed.has(file) ? String(version) : ''),
    getScriptSnapshot(file) {
      const text = read(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
  });
  return (file, text) => {
    const full = fs.realpathSync(path.join(root, file));
    changed.set(full, text);
    version += 1;
    const found = [...service.getSyntacticDiagnostics(full), ...service.getSemanticDiagnostics(full)];
    changed.delete(full);
    return found.length > 0;
  };
}
