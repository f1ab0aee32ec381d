import { expect } from 'vitest'
import type { AnswerItem, CallRef, MessageRef } from '../../../src/faces/kit/index.ts'

/** What a client has that follows the items. */
export interface Transcript {
  /** The messages of the agent itself and of its subagents, with their texts, thoughts and calls. */
  readonly messages: ReadonlyMap<string, { ref: MessageRef; text: string; thoughts: string; calls: string[] }>
  readonly calls: ReadonlyMap<string, { ref: CallRef; args: string; input: unknown; result?: string }>
  readonly questions: readonly { id: string; value: unknown; approvals: unknown }[]
  readonly ends: readonly string[]
}

/** Follows items as the strictest client does, and expects that each comes where it may. */
export function transcriptOf(items: readonly AnswerItem[]): Transcript {
  const messages = new Map<string, { ref: MessageRef; text: string; thoughts: string; calls: string[] }>()
  const calls = new Map<string, { ref: CallRef; args: string; input: unknown; result?: string }>()
  const openMessages = new Set<string>()
  const openBlocks = new Map<string, string>()
  const openCalls = new Set<string>()
  const questions: { id: string; value: unknown; approvals: unknown }[] = []
  const ends: string[] = []
  let isRunning = false
  let seq = 0
  const key = ({ owner, id }: MessageRef) => `${owner ?? ''} ${id}`
  const blockKey = (item: { message: MessageRef; index: number }) => `${key(item.message)} ${item.index}`
  for (const item of items) {
    expect(item.seq).toBeGreaterThanOrEqual(seq)
    seq = item.seq
    switch (item.type) {
      case 'runStart':
        expect(isRunning).toBe(false)
        isRunning = true
        break
      case 'runEnd':
        expect(isRunning).toBe(true)
        isRunning = false
        expect([...openMessages, ...openBlocks.keys(), ...openCalls]).toEqual([])
        ends.push(item.status)
        break
      case 'messageStart':
        expect(messages.has(key(item.message))).toBe(false)
        messages.set(key(item.message), { ref: item.message, text: '', thoughts: '', calls: [] })
        openMessages.add(key(item.message))
        break
      case 'messageEnd':
        expect(openMessages.delete(key(item.message))).toBe(true)
        for (const block of openBlocks.keys()) expect(block.startsWith(`${key(item.message)} `)).toBe(false)
        break
      case 'textStart':
      case 'reasoningStart':
        expect(openMessages).toContain(key(item.message))
        expect(openBlocks.has(blockKey(item))).toBe(false)
        openBlocks.set(blockKey(item), item.type)
        break
      case 'textDelta':
        expect(openBlocks.get(blockKey(item))).toBe('textStart')
        expect(item.text).not.toBe('')
        messages.get(key(item.message))!.text += item.text
        break
      case 'reasoningDelta':
        expect(openBlocks.get(blockKey(item))).toBe('reasoningStart')
        messages.get(key(item.message))!.thoughts += item.text
        break
      case 'textEnd':
      case 'reasoningEnd':
        expect(openBlocks.delete(blockKey(item))).toBe(true)
        break
      case 'callStart':
        expect(calls.has(item.call.id)).toBe(false)
        calls.set(item.call.id, { ref: item.call, args: '', input: undefined })
        openCalls.add(item.call.id)
        if (item.call.messageId !== null)
          messages
            .get(key({ id: item.call.messageId, owner: item.call.owner, node: '' }))!
            .calls.push(item.call.id)
        break
      case 'callArgs':
        expect(openCalls).toContain(item.call.id)
        calls.get(item.call.id)!.args += item.args
        break
      case 'callEnd':
      case 'callInvalid':
        expect(openCalls.delete(item.call.id)).toBe(true)
        calls.get(item.call.id)!.input = item.input
        break
      case 'callResult':
        expect(openCalls).not.toContain(item.call.id)
        if (calls.has(item.call.id)) calls.get(item.call.id)!.result = item.text
        break
      case 'question':
        questions.push(item)
        break
      case 'retract':
        for (const id of item.messages)
          for (const [at, { ref }] of messages) if (ref.id === id) messages.delete(at)
        for (const id of item.calls) calls.delete(id)
        for (const at of messages.keys()) expect(at).not.toBe('')
        break
      case 'gap':
        expect([...openMessages, ...openBlocks.keys()]).toEqual([])
        break
    }
  }
  return { messages, calls, questions, ends }
}
