// One file of tests, so that aws-cdk-lib (seconds to load) is loaded and the app synthesized once for all suites.
import './config.suite.ts';
import './events.suite.ts';
import './functions.suite.ts';
import './grants.suite.ts';
import './http.suite.ts';
import './nag.suite.ts';
import './queues.suite.ts';
import './storage.suite.ts';
import './synth.suite.ts';
import './watch.suite.ts';
