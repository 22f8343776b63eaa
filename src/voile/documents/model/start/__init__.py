"""What is proposed as an identifier before anybody has marked any."""
