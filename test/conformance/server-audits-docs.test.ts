import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { requirements } from '../../src/audit/adapter.ts'
import { checkpointerAudits, graphStoreAudits, serverAudits, storeAudits } from '../../src/audit/index.ts'
import { serverRules } from '../../src/audit/server.ts'

const page = readFileSync(new URL('../../docs/audits.md', import.meta.url), 'utf8')

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

const unopened = () => Promise.reject(new Error('Audits are listed here, not run.'))
const ids = (audits: readonly { readonly id: string; readonly name: string }[]) =>
  audits.filter(({ id }) => !id.startsWith('store.sequence.')).map(({ id, name }) => [`\`${id}\``, name])

const needs = new Map(serverRules.map((rule) => [rule.rule, rule.needs]))

test.each([
  [
    'server',
    table(
      ['rule', 'level', 'what must hold', 'needs', ''],
      serverAudits({ baseUrl: 'http://127.0.0.1' }).map(({ rule, level, name, source }) => [
        `\`${rule}\``,
        level,
        // Markdown takes angle brackets for HTML.
        name.replaceAll('<', '&lt;'),
        needs
          .get(rule)!
          .map((need) => `\`${need}\``)
          .join(', '),
        `[source](${source})`,
      ]),
    ),
  ],
  [
    'adapter',
    table(
      ['id', 'what must hold', ''],
      Object.entries(requirements).map(([id, { behaviour, source }]) => [
        `\`${id}\``,
        behaviour,
        `[source](${source})`,
      ]),
    ),
  ],
  ['store', table(['id', 'what must hold'], ids(storeAudits({ create: unopened, reopens: true })))],
  ['checkpointer', table(['id', 'what must hold'], ids(checkpointerAudits({ create: unopened })))],
  [
    'graph-store',
    table(
      ['id', 'what must hold'],
      ids(graphStoreAudits({ create: unopened, createIndexed: unopened, advance() {} })),
    ),
  ],
])('docs/audits.md has every rule of the %s audits', (suite, expected) => {
  const found = page.split(`<!-- ${suite} -->`)[1]?.split(`<!-- /${suite} -->`)[0]
  expect(found?.trim()).toBe(expected)
})
