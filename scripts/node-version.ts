/** First import of every entry point: ends the process with a sentence when Node is older than 24. */
import './node-version.mjs';
