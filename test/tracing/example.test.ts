import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('the example runs without a network, and its runs have no findings', async () => {
  const main = fileURLToPath(new URL('../../examples/tracing/main.ts', import.meta.url))
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', 'tsx', main])
  expect(stderr).toBe('')
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s{2,}/))
  const row = (name: string) => rows.find(([first]) => first === name)
  expect(row('plan')).toEqual([
    'plan',
    'openai/gpt-4o-2024-08-06',
    expect.stringContaining('weather({"city":"Paris"})'),
    expect.stringMatching(/^\d+ ms$/),
    expect.stringMatching(/^\d+ ms$/),
    '1280',
    '1024',
    '42',
    '$0.00234',
  ])
  expect(row('answer')).toContain('1160')
  expect(row('advice')).toContain('own/packer-1')
  expect(stdout).toContain('All runs are complete.')
})
