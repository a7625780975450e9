const target = document.getElementById('desk');
if (target !== null) target.textContent = 'Tokendesk';
