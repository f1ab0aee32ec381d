import { Client } from '@langchain/langgraph-sdk/client'
import { patientFetch } from './connection.ts'

/** Where the agents are: on the page's own address, as the catch-all route serves them. */
export const apiUrl = typeof location === 'undefined' ? '' : location.origin

/** For what is not a stream: the list of threads, titles, history. */
export const client = new Client({ apiUrl, callerOptions: { maxRetries: 1, fetch: patientFetch } })
