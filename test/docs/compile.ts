import { dirname, join } from 'node:path'
import ts from 'typescript'
import { root } from '../package/package.ts'

/** A module that declares what packages without types export: express brings none. */
export const untyped = join(root, 'test/conformance/untyped.d.ts')

const { include } = ts.readConfigFile(join(root, 'docs/sessions.tsconfig.json'), ts.sys.readFile).config

/** The snippets, from the root of the project, that need the types of express, which docs has. */
export const typed: readonly string[] = include.map((path: string) => join('docs', path))

/**
 * A program over files that exist in memory only, with the sources of the package behind its name. `declared` has the
 * files that declare what packages without types export.
 */
export function programOf(files: ReadonlyMap<string, string>, declared = [untyped]): ts.Program {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
  options.moduleDetection = ts.ModuleDetectionKind.Force
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile, directoryExists } = host
  const folders = new Set([...files.keys()].flatMap(foldersOf))
  host.directoryExists = (path) => folders.has(path) || directoryExists!(path)
  host.fileExists = (path) => files.has(path) || fileExists(path)
  host.readFile = (path) => files.get(path) ?? readFile(path)
  host.getSourceFile = (path, target, ...rest) => {
    const text = files.get(path)
    return text === undefined
      ? getSourceFile(path, target, ...rest)
      : ts.createSourceFile(path, text, target, true)
  }
  return ts.createProgram([...files.keys(), ...declared], options, host)
}

const foldersOf = (path: string): string[] =>
  path.length <= root.length ? [] : [dirname(path), ...foldersOf(dirname(path))]

export function errorsOf(program: ts.Program, path: string): string[] {
  const source = program.getSourceFile(path)!
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
    ({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'),
  )
}
