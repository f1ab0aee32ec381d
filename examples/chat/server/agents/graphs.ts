import { createDeepAgent } from 'deepagents'
import { createAgent, humanInTheLoopMiddleware } from 'langchain'
import type { Models } from '../models/models.ts'
import { askUser, calculator, search, sendEmail } from '../tools/tools.ts'

/** A deep agent with two subagents, each with its own tool. */
export function deepAgent(models: Models) {
  return createDeepAgent({
    model: models.coordinator,
    systemPrompt:
      'Hand arithmetic to math-whiz and questions of fact to researcher, at the same time when there are both. ' +
      'Answer from what they report. Answer small talk yourself.',
    subagents: [
      {
        name: 'researcher',
        description: 'Looks questions up in a small library of pages.',
        systemPrompt:
          'Search the library, then answer in two or three sentences and name the page. Ask the user only when you are told to.',
        model: models.researcher,
        tools: [search, askUser],
      },
      {
        name: 'math-whiz',
        description: 'Computes arithmetic.',
        systemPrompt: 'Use the calculator for every computation, then state the result.',
        model: models.mathWhiz,
        tools: [calculator],
      },
    ],
  })
}

/** An agent whose only tool waits until the user approves, edits or rejects the call. */
export function secretaryAgent(models: Models) {
  return createAgent({
    model: models.secretary,
    systemPrompt: 'You write letters with send_email. Ask for the address when it is missing.',
    tools: [sendEmail],
    middleware: [
      humanInTheLoopMiddleware({
        interruptOn: { send_email: { allowedDecisions: ['approve', 'edit', 'reject'] } },
      }),
    ],
  })
}
