import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { serve } from '../support/served.ts'
import { answered, badRequestsOf, seeded } from './bad-requests.ts'

/**
 * What is answered to requests with faults, to the letter: `fixtures/bad-requests.txt` was recorded while a
 * reader of its own stood in place of the schemas of zod. `-u` writes it anew, where the new words are nearer to those of Pydantic 2.
 */
test('requests with faults are answered as they were, in the words of FastAPI', async () => {
  const served = serve({ secrets: { key: Buffer.alloc(32, 7).toString('base64') } })
  const document = await (await served.fetch(new Request('http://control.test/openapi.json'))).json()
  const random = seeded(36)
  const lines: string[] = []
  for (const path of Object.keys(document.paths))
    for (const method of Object.keys(document.paths[path])) {
      if (path.endsWith('/events')) continue
      for (const request of badRequestsOf(document, method.toUpperCase(), path, random)) {
        const { body = '', type = '' } = request
        lines.push(
          `${request.method} ${request.path} ${type} ${body}`,
          `  ${await answered(served, request)}`,
        )
      }
    }
  expect(served.errors).toEqual([])
  await expect(`${lines.map(shortened).join('\n')}\n`).toMatchFileSnapshot('../fixtures/bad-requests.txt')
  await expect(`${JSON.stringify(document, sorted, 1)}\n`).toMatchFileSnapshot('../fixtures/openapi.txt')
})

/** The order of keys means nothing in JSON. */
const sorted = (_: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
    : value

/** In ASCII, and with a checksum in place of what is long. */
function shortened(line: string): string {
  const text = line.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  if (text.length <= 1_000) return text
  return `${text.slice(0, 600)} and so on: ${createHash('sha256').update(text).digest('hex')}`
}
