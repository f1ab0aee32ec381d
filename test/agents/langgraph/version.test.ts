import { describe, expect, test, vi } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { checkVersion } from '../../../src/agents/langgraph/version.ts'
import { chat } from '../../fixtures/graphs.ts'

const current = { nodes: {}, streamTransformers: [] }
/** What a graph of LangGraph 1.2 has. */
const old = { nodes: {} }

test('a graph of a LangGraph before the new streams is refused, with what to install', () => {
  const graph = Object.assign(Object.create(Object.getPrototypeOf(chat())), chat())
  delete graph.streamTransformers
  expect(() => langgraph(graph)).toThrow(
    /langgraph\(\) needs @langchain\/langgraph 1\.4 or later, .* older version: \d+\.\d+\.\d+ in this folder.*npm install/,
  )
})

describe('the versions that are installed', () => {
  test.each([
    ['0.2.74', '0.2.74', '0.2.74 in this folder.'],
    ['1.3.0', undefined, '1.3.0 beside agentwire.'],
    [undefined, '1.3.9', '1.3.9 in this folder.'],
    ['1.3.0', '1.7.3', '1.7.3 in this folder, 1.3.0 beside agentwire.'],
  ])('%s beside agentwire and %s in the folder are refused', (ours, project, told) => {
    expect(() => checkVersion(current, { ours, project })).toThrow(told)
  })

  test('an old graph beside a current copy is refused, and both versions are told', () => {
    expect(() => checkVersion(old, { ours: '1.7.3', project: '1.2.0' })).toThrow(
      '1.2.0 in this folder, 1.7.3 beside agentwire.',
    )
  })

  test('two copies of different versions are told', () => {
    expect(checkVersion(current, { ours: '1.7.3', project: '1.4.0' })).toContain(
      'two versions of @langchain/langgraph: 1.4.0 in this folder, 1.7.3 beside agentwire.',
    )
  })

  test.each([
    ['1.4.0', '1.4.0'],
    ['1.7.3', undefined],
    [undefined, undefined],
    ['2.0.0', '2.0.0'],
  ])('%s beside agentwire and %s in the folder are taken silently', (ours, project) => {
    expect(checkVersion(current, { ours, project })).toBeUndefined()
  })

  test('nothing is told about one copy', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    langgraph(chat())
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
  })
})
