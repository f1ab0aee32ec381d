import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { AgentwireError } from '../../src/core/errors.ts'
import { RunError, type RunErrorCode } from '../../src/engine/index.ts'
import { A2A_ERROR_CODES } from '../../src/faces/a2a/errors.ts'
import { ERRORS } from '../../src/faces/kit/errors.ts'
import { errorEncoder } from '../../src/faces/openai/errors.ts'
import { root } from '../package/package.ts'
import { read } from './fences.ts'

/** How the sources name the code of an error: where it is made, and where its class lists its codes. */
const MADE = /(?:\w*Error|super)\(\s*(?:\d+,\s*)?'([a-z_]+)'/g
const UNION = /type \w+ErrorCode =((?:\s*(?:\/\*\*[^/]*\*\/)?\s*\| '[a-z_]+')+)/g
const TABLE = /const (?:RETRYABLE|A2A_ERROR_CODES|CODES) = \{(.*?)^\}/gms

function codesIn(source: string): string[] {
  if (!source.includes('AgentwireError') && !source.includes('Error(')) return []
  return [
    ...[...source.matchAll(MADE)].map(([, code]) => code!),
    ...[...source.matchAll(UNION)].flatMap(([, union]) => union!.match(/(?<=')[a-z_]+(?=')/g) ?? []),
    ...[...source.matchAll(TABLE)].flatMap(([, table]) => table!.match(/^ {2}[a-z_]+(?=:)/gm) ?? []),
  ].map((code) => code.trim())
}

const sources = ['src', 'adapters'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${folder}/${path}`),
)

/** Codes that are no literals where they are made, and arguments that are no codes. */
const BY_NAME = ['invalid_namespace', 'invalid_key', 'invalid_value']
const NO_CODES = ['call', 'response', 'stream']

test('docs/errors.md has a row for each code of an error, and none besides', () => {
  const thrown = new Set(BY_NAME)
  for (const path of sources) for (const code of codesIn(read(path))) thrown.add(code)
  for (const code of NO_CODES) thrown.delete(code)
  const rows = [...read('docs/errors.md').matchAll(/^\| <a id="([a-z_]+)"><\/a>`([a-z_]+)` \|/gm)]
  expect(rows.filter(([, id, code]) => id !== code)).toEqual([])
  expect(thrown.size).toBeGreaterThan(90)
  expect(rows.map(([, code]) => code).toSorted()).toEqual([...thrown].toSorted())
})

test('an error names its row, and a log shows it', () => {
  const thrown = ((): unknown => {
    try {
      return defineAgent({} as never)
    } catch (error) {
      return error
    }
  })()
  expect(thrown).toBeInstanceOf(AgentwireError)
  expect((thrown as AgentwireError).docs).toBe('agentwire/docs/errors.md#invalid_argument')
  expect(inspect(thrown)).toContain('agentwire/docs/errors.md#invalid_argument')
})

test('docs/errors.md says what each error of the engine is over each protocol', async () => {
  const encode = errorEncoder(undefined)
  const expected = await Promise.all(
    Object.entries(ERRORS).map(async ([code, { status, asp, a2a, mcp }]) => {
      const response = await encode(new RunError(code as RunErrorCode, 'No.'), undefined, {} as never)
      const { error } = (await response!.json()) as { readonly error: { readonly type: string } }
      const cells = [`${A2A_ERROR_CODES[a2a]} \`${a2a}\``, mcp, `\`${error.type}\``]
      return `| [\`${code}\`](#${code}) | ${status} | \`${asp}\` | ${cells.join(' | ')} |`
    }),
  )
  const [, table = ''] = read('docs/errors.md').split('## Errors over each protocol')
  const rows = table
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| ['))
  expect(rows).toEqual(expected)
})
