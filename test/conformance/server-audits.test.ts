import { beforeAll, describe, expect, test, vi } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type AuditResult, runServerAudits, serverAudits } from '../../src/audit/index.ts'
import { createAgentServer } from '../../src/index.ts'
import { unexpectedErrors } from '../kit/errors.ts'
import { audited, functions } from './audited/agents.ts'
import { graphs } from './audited/graphs.ts'
import { webSocketFactory } from './audited/sockets.ts'
import { node } from './targets/node.ts'

/** Longer than a rule takes on a machine that has much else to do. */
const PATIENCE = { timeoutMs: 100_000, concurrency: 8 }

const headers = { authorization: 'Bearer key' }
const authenticate = (request: Request) =>
  request.headers.get('authorization') === headers.authorization ? { id: 'auditor' } : null

const missed = (found: readonly AuditResult[]) =>
  found.filter(({ passed }) => !passed).map(({ rule, detail }) => `${rule}: ${detail}`)

const optionsOf = (baseUrl: string) => ({ baseUrl, headers, webSocketFactory, ...audited, ...PATIENCE })

const auditAll = async (origin: string) => missed(await runServerAudits(optionsOf(origin)))

// Deleting a thread breaks its streams off, which some frameworks write to the console.
beforeAll(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))

describe('every rule holds', { timeout: 240_000 }, () => {
  test('of functions', async ({ onTestFinished }) => {
    const { errors, reporters } = unexpectedErrors()
    const server = createAgentServer({ agents: functions, authenticate, ...reporters })
    const { origin, close } = await node.start(server, {})
    onTestFinished(close)
    expect(await auditAll(origin)).toEqual([])
    expect(errors).toEqual([])
  })

  test('of LangGraph graphs', async ({ onTestFinished }) => {
    const agents = Object.fromEntries(Object.entries(graphs()).map(([id, graph]) => [id, langgraph(graph)]))
    const { origin, close } = await node.start(createAgentServer({ agents, authenticate, onError() {} }), {})
    onTestFinished(close)
    expect(await auditAll(origin)).toEqual([])
  })
})

describe('the suite', () => {
  const baseUrl = 'http://in-process.example'
  const cannotDial = () => {
    throw new Error('ECONNREFUSED')
  }
  const refuse = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }))

  test('skips, with a reason, the rules that lack an assistant or an option', async () => {
    const options = { baseUrl, fetch: refuse }
    const needy = serverAudits(options).filter(({ skip }) => skip !== undefined)
    expect(new Set(needy.map(({ skip }) => skip))).toEqual(
      new Set([
        ...Object.keys(audited.agents).map((name) => `No assistant is named as agents.${name}.`),
        'No webSocketFactory is given, as for a server without web sockets.',
      ]),
    )
    for (const { fn } of needy) await fn()
    const results = await runServerAudits(options)
    expect(results.filter(({ skipped }) => skipped)).toEqual(
      needy.map(({ name, rule, level, skip }) => ({
        name,
        rule,
        level,
        passed: false,
        skipped: true,
        detail: skip,
        durationMs: 0,
      })),
    )
  })

  test('skips the rule about callers without credentials where none are given', () => {
    const skipped = serverAudits({ baseUrl, webSocketFactory }).filter(({ skip }) =>
      skip?.includes('headers'),
    )
    expect(skipped.map(({ rule, skip }) => [rule, skip])).toEqual([
      ['sockets.unauthenticated', 'No headers are given that a caller could lack.'],
    ])
  })

  test('deletes the threads that it made', async () => {
    const server = createAgentServer({ agents: functions, onError() {} })
    const options = {
      baseUrl: `${baseUrl}/`,
      fetch: ((input, init) => server.fetch(new Request(input, init))) as typeof fetch,
    }
    const audits = serverAudits({ ...options, ...audited })
    await Promise.all(
      audits.filter(({ rule }) => /^(threads|state|interrupts)\./.test(rule)).map(({ fn }) => fn()),
    )
    expect(await (await server.fetch(new Request(`${baseUrl}/threads`))).json()).toEqual([])
    await server.close()
  })

  test('says of a server that cannot be reached that no rule holds, and why', async () => {
    const options = { baseUrl, fetch: refuse, headers, webSocketFactory: cannotDial, ...audited }
    const results = await runServerAudits({ ...options, concurrency: 100 })
    const passed = results.filter((result) => result.passed).map(({ rule }) => rule)
    expect(passed).toEqual([])
    for (const { detail } of results) expect(detail).toContain('ECONNREFUSED')
  })

  test('gives up on a server that does not answer, in the time it was given', async () => {
    const silent = ((_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal!.reason))
      })) as typeof fetch
    const start = performance.now()
    const options = { baseUrl, fetch: silent, ...audited, timeoutMs: 100, concurrency: 200 }
    const results = await runServerAudits(options)
    expect(performance.now() - start).toBeLessThan(60_000)
    expect(results.every(({ passed }) => !passed)).toBe(true)
  })

  test('sends the headers of its caller with every request', async () => {
    const seen: (string | null)[] = []
    const watch = (async (_, init) => {
      seen.push(new Headers(init?.headers).get('x-api-key'))
      return Response.json({})
    }) as typeof fetch
    await runServerAudits({
      baseUrl,
      fetch: watch,
      headers: { 'x-api-key': 'k' },
      ...audited,
      timeoutMs: 100,
      concurrency: 200,
    })
    expect(seen.length).toBeGreaterThan(100)
    expect(new Set(seen)).toEqual(new Set(['k']))
  })

  test('names each rule once, says what must hold, and where that comes from', () => {
    const audits = serverAudits({ baseUrl })
    expect(new Set(audits.map(({ rule }) => rule)).size).toBe(audits.length)
    expect(new Set(audits.map(({ name }) => name)).size).toBe(audits.length)
    for (const { id, rule, name, level, source } of audits) {
      expect(id).toBe(`server.${rule}`)
      expect(rule).toMatch(/^[a-z-]+(\.[a-z-]+)+$/)
      expect(name).toMatch(/[^.]$/)
      expect(['MUST', 'SHOULD']).toContain(level)
      expect(new URL(source).protocol).toBe('https:')
    }
  })
})
