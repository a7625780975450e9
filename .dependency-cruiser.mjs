export default {
  forbidden: [
    { name: 'no circle between files', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no circle between folders', severity: 'error', scope: 'folder', from: {}, to: { circular: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.svelte', '.js', '.mjs', '.json'] },
    extraExtensionsToScan: ['.svelte'],
  },
};
