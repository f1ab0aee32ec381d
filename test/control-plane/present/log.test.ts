import { expect, test } from 'vitest'
import { presentLine } from '../../../src/control-plane/present.ts'

test('a line of no revision is answered with none, and not with an empty id', () => {
  const line = { id: '1', at: 0, level: 'INFO', message: 'stopped' } as const
  expect(presentLine({ ...line, revisionId: '' }).revision_id).toBeNull()
  expect(presentLine({ ...line, revisionId: 'r1' }).revision_id).toBe('r1')
})
