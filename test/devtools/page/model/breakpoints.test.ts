import { expect, test } from 'vitest'
import {
  countStops,
  fieldsOfStops,
  NO_STOPS,
  readStops,
  stoppingNodes,
  toggled,
} from '../../../../src/ops/devtools/page/model/breakpoints.ts'

test('breakpoints are set and taken away on each side of a node', () => {
  const before = toggled(NO_STOPS, 'before', 'write')
  const both = toggled(before, 'after', 'write')
  expect(both).toEqual({ before: ['write'], after: ['write'] })
  expect(countStops(both)).toBe(2)
  expect(toggled(both, 'before', 'write')).toEqual({ before: [], after: ['write'] })
})

test('a request names the nodes of each side that has some, or every node', () => {
  expect(fieldsOfStops(NO_STOPS)).toEqual({})
  expect(fieldsOfStops({ before: ['a', 'b'], after: [] })).toEqual({ interrupt_before: ['a', 'b'] })
  expect(fieldsOfStops({ before: [], after: ['a', '*'] })).toEqual({ interrupt_after: '*' })
})

test('stored breakpoints are read, and damaged ones are ignored', () => {
  const stops = { before: ['a'], after: ['b'] }
  expect(readStops(JSON.stringify(stops))).toEqual(stops)
  for (const damaged of [null, '', '{', '[]', '{"before":"a","after":[1]}'])
    expect(readStops(damaged)).toEqual(NO_STOPS)
})

test('a run can stop at the nodes of its own graph, and at a subgraph as one node', () => {
  const ids = ['__start__', 'plan', 'research:search', 'research:read', 'write', '__end__']
  const nodes = ids.map((id) => ({ id, tools: [] }))
  expect(stoppingNodes({ nodes, edges: [] })).toEqual(['plan', 'research', 'write'])
})
